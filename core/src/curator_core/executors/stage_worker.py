"""The stages of one step inside a worker process of Ray: set up once, called many times, reporting to the driver."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from curator_core.executors.node_setup import once_on_this_node
from curator_core.executors.shipping import pack_error
from curator_core.executors.thread_pools import limit_thread_pools
from curator_core.runner import StageRunner
from curator_core.stage import WorkerInfo
from curator_core.worker_state import WorkerState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator_core.executors.shipping import PackedError, PackedStage
    from curator_core.quarantine import QuarantineRecord
    from curator_core.stage import OnError
    from curator_core.stats import StageStats
    from curator_core.tasks import Task

__all__ = ["StageWorker", "WorkerReport", "WorkerSettings"]


@dataclass(frozen=True)
class WorkerSettings:
    """What all workers of a step have in common.

    Args:
        stages: The stages of the step, in order.
        run_id: Names the run on each machine.
        run_dir: Folder of the run, if it has one.
        cpus: CPUs of one worker.
        on_error: What happens to a task that keeps failing, unless the stage has its own.
        max_attempts: How often a call is tried, unless the stage has its own.
        keeps_payload: Whether rows and tasks in quarantine are kept.
    """

    stages: tuple[PackedStage, ...]
    run_id: str
    run_dir: str | None
    cpus: float
    on_error: OnError
    max_attempts: int
    keeps_payload: bool = True

    @property
    def name(self) -> str:
        """The names of the stages, joined by ``+``."""
        return "+".join(stage.name for stage in self.stages)


@dataclass(frozen=True)
class WorkerReport:
    """What happened in a worker since its last report.

    Args:
        error: Why the run must end, if it must.
        stats: Statistics by stage.
        quarantined: Records kept aside.
        seconds: Duration of the call.
    """

    error: PackedError | None = None
    stats: dict[str, StageStats] = field(default_factory=dict)
    quarantined: list[QuarantineRecord] = field(default_factory=list)
    seconds: float = 0.0


class StageWorker:
    """Hosts one stage, or several that run in one call.

    Errors that end the run are reported, not raised: what a remote call raises arrives wrapped, once per worker, and
    takes the statistics with it.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._state = WorkerState(settings.run_dir, keeps_payload=settings.keeps_payload)
        self._runners: list[StageRunner] = []

    def open(self) -> WorkerReport:
        """Load and set up the stages."""
        started = time.perf_counter()
        try:
            # Before anything is unpacked, because unpacking imports what sizes its threads when imported.
            limit_thread_pools(self._settings.cpus)
            for packed in self._settings.stages:
                runner = StageRunner(
                    packed.unpack(),
                    self._state,
                    on_error=self._settings.on_error,
                    max_attempts=self._settings.max_attempts,
                )
                once = partial(once_on_this_node, self._settings.run_id, packed.name)
                runner.setup(_this_worker(), once_per_node=once)
                self._runners.append(runner)
        except Exception as error:  # noqa: BLE001 - isolation border: set-up code may raise anything
            return self._report(started, error)
        return self._report(started)

    def run(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any] | WorkerReport]:
        """Process tasks; yield what the stages make of them as it is made, and the report at the end."""
        started = time.perf_counter()
        failure = None
        stream = iter(tasks)
        for runner in self._runners:
            stream = runner.run(stream)
        try:
            yield from stream
        except Exception as error:  # noqa: BLE001 - isolation border: the policy "raise" ends the run in the driver
            failure = error
        yield self._report(started, failure)

    def run_all(self, tasks: Iterable[Task[Any]]) -> tuple[list[Task[Any]], WorkerReport]:
        """Process tasks; return what the stages made of them, or nothing where that ended the run."""
        outputs: list[Task[Any]] = []
        report = WorkerReport()
        for made in self.run(tasks):
            if isinstance(made, WorkerReport):
                report = made
            else:
                outputs.append(made)
        return ([] if report.error else outputs), report

    def close(self) -> WorkerReport:
        """Tear the stages down."""
        started = time.perf_counter()
        failure = None
        while self._runners:
            try:
                self._runners.pop().teardown()
            except Exception as error:  # noqa: BLE001, PERF203 - isolation border: tear-down code may raise anything
                failure = error
        return self._report(started, failure)

    def _report(self, started: float, error: Exception | None = None) -> WorkerReport:
        stats, quarantined = self._state.take()
        packed = None if error is None else pack_error(error)
        return WorkerReport(packed, stats, quarantined, time.perf_counter() - started)


def _this_worker() -> WorkerInfo:
    import ray

    context = ray.get_runtime_context()
    return WorkerInfo(worker_id=f"{context.get_worker_id()}-{os.getpid()}", node_id=context.get_node_id())
