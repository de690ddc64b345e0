"""List the source tasks of a pipeline before its run, or again after it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from curator_core.call.lineage import number_sources
from curator_core.call.runner import StageRunner
from curator_core.run.worker_state import WorkerState
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord

__all__ = ["list_sources"]


def list_sources(stages: Iterable[ProcessingStage[Any, Any]], tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
    """Yield the source tasks that stages make of the initial tasks, with their ids.

    Files that must not be read are left out, because the run itself quarantines them.

    Raises:
        StageError: A stage failed, whatever its error policy: an incomplete list would look like input that is gone.
    """
    reports = _Reports()
    found = number_sources(tasks)
    with ExitStack() as stack:
        for stage in stages:
            runner = StageRunner(stage, reports, on_error="skip")
            runner.setup()
            stack.callback(runner.teardown)
            found = runner.run(found)
        yield from found


class _Reports(WorkerState):
    """Reports of a listing: of no interest, but for failures of whole tasks."""

    def quarantine(self, record: QuarantineRecord, task: Task[Any] | None = None) -> None:  # noqa: ARG002 - a contract
        self.skip(record)

    def skip(self, record: QuarantineRecord) -> None:
        if not record.is_part:
            raise StageError(
                f"stage {record.stage!r} failed on {record.where}: {record.error_type}: {record.message}",
                fix="make sure that the input can be listed, then try again",
            )
