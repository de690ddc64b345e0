"""Give what is in quarantine to the pipeline again, such that no row is lost and none comes out twice."""

from __future__ import annotations

from collections import defaultdict
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage_types import is_known, is_table
from curator_core.authoring.tasks import EmptyTask, FileGroupTask, TableBatch, source_id
from curator_core.call.lineage import NumberedTasks
from curator_core.pipelines.pipeline import Pipeline
from curator_core.plan.plan import Plan
from curator_core.run.directory import LEDGER_FILE
from curator_core.run.ledger.ledger_file import read_ledger
from curator_core.run.ledger.opening import only_run
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.run.quarantine.retry_plan import Verdicts, lay_out, settle_kept, settle_sources
from curator_core.run.quarantine.settlement import apply_verdicts, finish_interrupted
from curator_core.run.run import stream_plan
from curator_core.run.source_listing import list_sources
from curator_core.run.state import RunState
from curator_core.values.errors import ConfigError, DataError, LedgerError
from curator_core.values.redaction import MASK

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.executors.base import Executor
    from curator_core.plan.plan import PlannedStage
    from curator_core.registry import Registry
    from curator_core.run.quarantine.retry_plan import RetryOrder

__all__ = ["RetryResult", "plan_file", "retry_quarantined"]


@dataclass
class RetryResult:
    """What a retry did.

    Attributes:
        order: What was to be done.
        resolved: Ids of the records that are done with.
        records: Records that failed again or are new.
        outputs: The output tasks.
    """

    order: RetryOrder
    resolved: list[str] = field(default_factory=list)
    records: list[QuarantineRecord] = field(default_factory=list)
    outputs: list[Task[Any]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everything that was asked for came through."""
        return not self.records and not self.order.impossible


def plan_file(run_dir: str | os.PathLike[str]) -> Path:
    """Return the pipeline file of a run directory.

    Raises:
        ConfigError: The directory has none, or secrets were left out of it.
    """
    path = Path(run_dir) / "plan.yaml"
    if not path.exists():
        raise ConfigError(
            f"{run_dir} has no plan.yaml, so the pipeline is not known",
            fix="give it: --pipeline P.yaml, or retry_quarantined(run_dir, pipeline=…) for one made in Python",
        )
    if MASK in path.read_text(encoding="utf-8"):
        raise ConfigError(
            f"{path}: secrets were left out when it was written",
            fix="give the pipeline itself with --pipeline P.yaml; secrets from ${VARIABLES} stay variables",
        )
    return path


def retry_quarantined(
    run_dir: str | os.PathLike[str],
    *,
    pipeline: Pipeline | None = None,
    executor: Executor | None = None,
    choose: Callable[[QuarantineRecord], bool] | None = None,
    initial_tasks: Iterable[Task[Any]] | None = None,
    dry_run: bool = False,
) -> RetryResult:
    """Retry the records of a run that are not resolved.

    Rows and tasks that were kept go to the stage that failed on them and on from there. Where nothing was kept, the
    source task is found again by its id and processed whole. Output files are named after the tasks, so that repeating
    a retry replaces them. The quarantine is brought up to date when everything has been processed.

    >>> import tempfile
    >>> from curator_core import LocalExecutor, Pipeline, Task, processing_stage
    >>> @processing_stage
    ... def halve(task, *, by: int = 0):
    ...     return task.with_data(task.data / by)
    >>> tasks = [Task(data=10)]
    >>> with tempfile.TemporaryDirectory() as run_dir:
    ...     failed = Pipeline("p", stages=[halve]).run(LocalExecutor(max_attempts=1), tasks, run_dir=run_dir)
    ...     fixed = Pipeline("p", stages=[halve(by=2)])
    ...     result = retry_quarantined(run_dir, pipeline=fixed, initial_tasks=tasks)
    >>> len(failed.quarantined), [task.data for task in result.outputs]
    (1, [5.0])

    Args:
        run_dir: The run directory.
        pipeline: The pipeline; that of the run directory unless given.
        executor: How to run it; in this process unless given.
        choose: Tells which records to retry; all unless given.
        initial_tasks: What the run was given, for a pipeline that does not make its own work.
        dry_run: Only say what would be done.

    Raises:
        ConfigError: The pipeline is not known.
        LedgerError: The run is not finished, or is under way.
    """
    from curator_core.executors.local import LocalExecutor

    if getattr(executor, "on_error", "quarantine") == "skip":
        raise ConfigError("a retry that skips failures would lose them", fix="use on_error quarantine or raise")
    folder = QuarantineFolder(run_dir)
    plan = (pipeline or Pipeline.from_yaml(plan_file(run_dir))).build(check_inputs=False)
    with only_run(Path(run_dir)) if folder.path.exists() else nullcontext():
        _check_finished(Path(run_dir))
        if not dry_run:
            finish_interrupted(folder)
        return _retry(folder, plan, executor or LocalExecutor(), choose, initial_tasks, dry_run=dry_run)


def _check_finished(run_dir: Path) -> None:
    """Refuse to retry what a resumed run is going to process again itself: it would come out twice."""
    content = read_ledger(run_dir / LEDGER_FILE)
    if content is not None and content.finished is None:
        raise LedgerError(
            f"the run in {str(run_dir)!r} is not finished, so what is in its quarantine may not stay there",
            fix="finish it first: the command that started it, with --resume (in Python resume=True); then retry",
        )


def _retry(
    folder: QuarantineFolder,
    plan: Plan,
    executor: Executor,
    choose: Callable[[QuarantineRecord], bool] | None,
    initial_tasks: Iterable[Task[Any]] | None,
    *,
    dry_run: bool,
) -> RetryResult:
    stages = [planned.stage.name for planned in plan.stages]
    known = {key: _of_stage_today(each, stages, plan.registry) for key, each in folder.records().items()}
    resolutions = folder.resolutions()
    unresolved = [record for record in known.values() if record.record_id not in resolutions]
    chosen = [record for record in unresolved if choose is None or choose(record)]
    result = RetryResult(lay_out(chosen, unresolved=unresolved, stages=stages))
    if dry_run or not chosen:
        return result
    for planned in plan.stages:
        planned.stage.remove_output({source_id(record.task_id) for record in chosen}, only_torn=True)
    attempt = _Attempt(folder, plan, executor, result, initial_tasks)
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    verdicts = Verdicts()
    for stage, records in result.order.kept.items():
        retried, failures, files = attempt.from_stage(stages.index(stage), records)
        verdicts.add(settle_kept(retried, failures, files, time=now))
    if result.order.sources:
        retried, failures, vanished = attempt.from_sources()
        verdicts.add(settle_sources(retried, failures, known=known, resolutions=resolutions, time=now))
        alone = {path for each in resolutions.values() for path in each.outputs}
        verdicts.obsolete += sorted(vanished - alone)
    apply_verdicts(folder, verdicts)
    result.resolved = [each.record_id for each in verdicts.resolved]
    result.records = verdicts.records
    return result


def _of_stage_today(record: QuarantineRecord, stages: Sequence[str], registry: Registry) -> QuarantineRecord:
    """Return a record under the name that its stage has today, where the pipeline has none of the name it had."""
    return record if record.stage in stages else replace(record, stage=registry.canonical_name(record.stage))


@dataclass
class _Attempt:
    """One retry: runs parts of the plan in a run directory of its own."""

    folder: QuarantineFolder
    plan: Plan
    executor: Executor
    result: RetryResult
    initial_tasks: Iterable[Task[Any]] | None
    seen: set[str] = field(default_factory=set)  # ids of failures that were told of

    def from_stage(
        self, index: int, records: Sequence[QuarantineRecord]
    ) -> tuple[list[QuarantineRecord], list[QuarantineRecord], dict[str, list[str]]]:
        """Give kept tasks to the stage of an index; return the records, what failed again, and files by task."""
        retried, tasks = [], NumberedTasks()
        task_type = _task_type(self.plan.stages, index)
        for record in records:
            try:
                tasks.append(self.folder.load_payload(record, task_type=task_type))
            except DataError as error:  # noqa: PERF203 - one damaged file must not keep the others from being retried
                self.result.order.impossible[record.record_id] = error.message
            else:
                retried.append(record)
        files: dict[str, list[str]] = defaultdict(list)
        for output in self._outputs(index, tasks):
            if isinstance(output, FileGroupTask):
                files[output.task_id] += output.paths
        return retried, self._new_failures(), files

    def from_sources(self) -> tuple[list[QuarantineRecord], list[QuarantineRecord], set[str]]:
        """Find source tasks again and process them whole.

        Returns:
            The records of those found, what failed again, and files that were there before and were not made again.
        """
        wanted = self.result.order.sources
        count, sources = self._sources(wanted)
        found = {task.task_id for task in sources}
        for source in wanted.keys() - found:
            reason = "its source is not listed any more: the input has changed or is gone; run the pipeline again"
            self.result.order.impossible |= {record.record_id: reason for record in wanted[source]}
        before = {path for planned in self.plan.stages for path in _files_of(planned.stage, found)}
        made = {path for task in self._outputs(count, sources) for path in getattr(task, "paths", ())}
        return [each for source in found for each in wanted[source]], self._new_failures(), before - made

    def _outputs(self, first_stage: int, tasks: NumberedTasks) -> Iterator[Task[Any]]:
        if not tasks:
            return
        plan = Plan(self.plan.pipeline, self.plan.stages[first_stage:])
        for output in stream_plan(plan, self.executor, state=RunState(self.folder.retry), initial_tasks=tasks):
            self.result.outputs.append(output)
            yield output

    def _new_failures(self) -> list[QuarantineRecord]:
        records = QuarantineFolder(self.folder.retry).records()
        found = [record for record_id, record in records.items() if record_id not in self.seen]
        self.seen.update(records)
        return found

    def _sources(self, wanted: Iterable[str]) -> tuple[int, NumberedTasks]:
        """List the source tasks of the pipeline; return how many stages that took, and those that are wanted."""
        makers = list(takewhile(lambda planned: planned.input_type is EmptyTask, self.plan.stages))
        if not makers and self.initial_tasks is None:
            return 0, NumberedTasks()
        tasks = self.initial_tasks if self.initial_tasks is not None else [EmptyTask()]
        found = list_sources([planned.stage for planned in makers], tasks)
        names = set(wanted)
        return len(makers), NumberedTasks(task for task in found if task.task_id in names)


def _task_type(stages: Sequence[PlannedStage], index: int) -> type[Task[Any]]:
    """Return the class of the tasks that a stage gets: what it asks for, or the modality made before it."""
    found: type[Task[Any]] = TableBatch
    for planned in stages[:index]:
        if is_table(planned.output_type) and planned.output_type is not TableBatch:
            found = planned.output_type
    asked = stages[index].input_type
    return asked if is_known(asked) and (not is_table(asked) or issubclass(asked, found)) else found


def _files_of(stage: ProcessingStage[Any, Any], sources: Iterable[str]) -> Iterator[str]:
    """Yield the files that a writer has made of some source tasks."""
    from curator_core.authoring.file_writer import FileWriter
    from curator_core.files.filesystems import open_filesystem

    if not isinstance(stage, FileWriter):
        return
    filesystem, folder = open_filesystem(stage.path)
    for source in sources:
        stem = stage.file_name(source, "")
        for path in filesystem.glob(f"{folder}/{stem}[-.]*"):
            yield stage.file_path(path.rpartition("/")[2])
