"""One run of a plan: its live state, and the call that takes it from start to result."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from curator_core.authoring.existing_output import check_existing, check_nothing_exists, existing_warnings
from curator_core.authoring.tasks import EmptyTask
from curator_core.call.failure_limit import FailureLimit
from curator_core.call.lineage import number_sources
from curator_core.plan.planner import check_first_stage
from curator_core.run.directory import RunDirectory
from curator_core.run.ledger.counts import Counts, SourcedStats
from curator_core.run.ledger.descriptions import output_from
from curator_core.run.ledger.opening import open_ledger, remove_torn, start_over
from curator_core.run.ledger.resume import in_source_order
from curator_core.run.ledger.run_ledger import StageProgress
from curator_core.run.outputs import Outputs
from curator_core.run.result import RunResult
from curator_core.run.run_warnings import loss_of_all
from curator_core.run.stage_finish import finish_stages
from curator_core.values.errors import ConfigError, CuratorError
from curator_core.values.stats import StageStats, StatsTable

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from curator_core.authoring.existing_output import Existing
    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.executors.base import Executor
    from curator_core.plan.plan import Plan
    from curator_core.registry import Registry
    from curator_core.run.ledger.resume import Decision, Resume
    from curator_core.run.ledger.run_ledger import RunLedger
    from curator_core.run.live import LiveStage

__all__ = ["KEPT_RECORDS", "RunState", "run_plan", "stream_plan"]

_log = logging.getLogger(__name__)

KEPT_RECORDS = 10_000
"""Quarantine records kept in memory for ``RunResult.quarantined``; the run directory has all of them."""


class RunState:
    """What a run has done so far. Executors write it, progress displays read it.

    Args:
        run_dir: Folder for quarantine, dropped rows and the result; none is written without it.
        existing: What happens to files of other runs in the output folder; see :meth:`curator_core.Pipeline.run`.
    """

    def __init__(self, run_dir: str | os.PathLike[str] | None = None, *, existing: Existing = "warn") -> None:
        check_existing(existing)
        self.directory = RunDirectory(run_dir) if run_dir is not None else None
        self.existing: Existing = existing
        self.registry: Registry | None = None  # of the plan that is run
        self.stats: dict[str, StageStats] = {}
        self.live: dict[str, LiveStage] = {}  # replaced as a whole, by executors with workers
        self.quarantined: list[QuarantineRecord] = []
        self.quarantined_count = 0
        self.started_s = time.monotonic()
        self.first_output_s: float | None = None
        self.peak_object_store_bytes = 0
        self.stop_requested = threading.Event()
        self.keeps_payload = True
        self._failure_limit: FailureLimit | None = None
        self.ledger: RunLedger | None = None
        self.restored = Outputs()  # of source tasks that an earlier run has done
        # Puts outputs in the order of their sources; replaced by executors whose outputs finish in another order.
        self.in_order: Callable[[Sequence[Task[Any]]], Sequence[Task[Any]]] = lambda outputs: outputs
        self._lock = threading.Lock()

    @property
    def finished_sources(self) -> Collection[str]:
        """Source tasks that an earlier run has done, which are skipped."""
        return () if self.ledger is None else self.ledger.finished

    def sources(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        """Give the caller's tasks their ids, and leave out those that an earlier run has done."""
        numbered = number_sources(tasks)
        return numbered if self.ledger is None else self.ledger.entering(numbered)

    def progress_of(self, position: int) -> StageProgress | None:
        """Return what a stage in this process reports its tasks to, if anybody wants to know."""
        return None if self.ledger is None else StageProgress(self.ledger, position)

    def stats_of(self, stage_name: str) -> StageStats:
        """Return the statistics of a stage, made at its first use."""
        with self._lock:
            stats = self.stats.get(stage_name)
            if stats is None:
                stats = StageStats(stage_name) if self.ledger is None else SourcedStats(stage_name, self.ledger.counts)
                self.stats[stage_name] = stats
            return stats

    def apply(self, executor: Executor) -> None:
        """Take over what an executor says about failures.

        Raises:
            ConfigError: The fraction of failures that it allows is not between 0 and 1.
        """
        limit = executor.max_failed_fraction
        self._failure_limit = None if limit is None else FailureLimit(limit)
        self.keeps_payload = executor.quarantine_payload
        if self.directory is not None:
            self.directory.keeps_payload = self.keeps_payload

    def quarantine(self, record: QuarantineRecord, task: Task[Any] | None = None) -> None:
        """Keep a record aside, and the task or the rows that it is about, where they are at hand.

        Raises:
            TooManyFailuresError: More of the stage's rows have failed than the run allows.
        """
        if self.directory is not None and task is not None:
            record = self.directory.keep_payload(record, task)
        stats = self.stats_of(record.stage)
        stats.lose(record, is_kept=True)
        self._keep(record)
        self._check_failures(stats)

    def skip(self, record: QuarantineRecord) -> None:
        """Count a record that is not kept.

        Raises:
            TooManyFailuresError: More of the stage's rows have failed than the run allows.
        """
        stats = self.stats_of(record.stage)
        stats.lose(record, is_kept=False)
        self._check_failures(stats)

    def _keep(self, record: QuarantineRecord) -> None:
        """Write a record, tell observers, and count it."""
        record = record.redacted() if self.keeps_payload else replace(record.redacted(), payload=None, row_id=None)
        if self.directory is not None:
            self.directory.add_quarantined(record)
        with self._lock:
            self.quarantined_count += 1
            if len(self.quarantined) < KEPT_RECORDS:
                self.quarantined.append(record)
        if self.registry is not None:
            self.registry.notify("curator_task_failed", record=record)

    def _check_failures(self, stats: StageStats) -> None:
        """End the run, once: what workers report while it ends must not end it again."""
        limit = self._failure_limit
        if limit is None or not limit.is_exceeded(failed=stats.rows_failed, seen=stats.rows_seen):
            return
        self._failure_limit = None
        limit.check(stats)

    def keep_dropped(self, stage_name: str, task_id: str, recording: Recording) -> None:
        """Write dropped rows that a filter handed over."""
        if self.directory is None or not recording.dropped_rows:
            return
        from curator_core.authoring.tasks import concat_tables

        self.directory.write_dropped(stage_name, task_id, concat_tables(recording.dropped_rows))

    def absorb(self, stats: Mapping[str, StageStats], quarantined: Iterable[QuarantineRecord]) -> None:
        """Add what a worker process reported.

        Raises:
            TooManyFailuresError: More of a stage's rows have failed than the run allows.
        """
        for name, each in stats.items():
            self.stats_of(name).merge(each)
        for record in quarantined:
            self._keep(record)
        for name, each in stats.items():
            if each.failed:
                self._check_failures(self.stats_of(name))

    def restore(self, earlier: Decision) -> None:
        """Take in what an earlier run has counted, made and set aside for source tasks that are done."""
        content = earlier.content
        # What belongs to no source task is counted again, unless there is nothing to do.
        if content.finished is not None and earlier.is_finished:
            self._add_counts(content.finished.stats)
        for entry in content.entries():
            self._add_counts(entry.stats)
            self.restored.extend(map(output_from, entry.outputs))
        assert self.directory is not None
        self.directory.rename_dropped(self._named_today)
        folder = self.directory.quarantine
        # A finished run makes none of its records again, also those of its listing, which have no source task.
        for record in folder.records().values() if earlier.is_finished else folder.keep_only(content.done):
            self.quarantined_count += 1
            if len(self.quarantined) < KEPT_RECORDS:
                self.quarantined.append(replace(record, stage=self._named_today(record.stage)))

    def _add_counts(self, by_stage: Mapping[str, Mapping[str, Any]]) -> None:
        for name, counts in by_stage.items():
            Counts.from_json(counts).add_to(self.stats_of(self._named_today(name)))

    def _named_today(self, stage_name: str) -> str:
        """Return the name that a stage of an earlier run has in this one."""
        if stage_name in self.stats or self.registry is None:
            return stage_name
        return self.registry.canonical_name(stage_name)

    def note_output(self, task: Task[Any]) -> None:
        """Note an output, and the moment of the first one."""
        if self.first_output_s is None:
            self.first_output_s = time.monotonic() - self.started_s
        if self.ledger is not None:
            self.ledger.delivered(task)


def stream_plan(
    plan: Plan, executor: Executor, *, state: RunState, initial_tasks: Iterable[Task[Any]] | None = None
) -> Iterator[Task[Any]]:
    """Yield the outputs of a plan as they finish.

    Raises:
        PipelineError: No tasks are given, and the first stage makes none.
    """
    if initial_tasks is None:
        check_first_stage(plan)
    state.registry = plan.registry
    state.apply(executor)
    for planned in plan.stages:
        state.stats_of(planned.stage.name)
    tasks = initial_tasks if initial_tasks is not None else [EmptyTask()]
    for task in executor.stream(plan, tasks, state):
        state.note_output(task)
        yield task


def run_plan(
    plan: Plan,
    executor: Executor,
    *,
    initial_tasks: Iterable[Task[Any]] | None = None,
    state: RunState | None = None,
    resume: Resume = False,
) -> RunResult:
    """Run a plan to its end and return everything it produced and counted.

    An interruption (Ctrl-C) ends the run early; the result then says ``interrupted``. With a run directory, finished
    source tasks are recorded, and ``resume`` goes on where an earlier run stopped.

    Raises:
        ResumeError: The run cannot be continued, because its pipeline or input have changed.
        PipelineError: No tasks are given, and the first stage makes none.
        ConfigError: Other runs have left files in the output folder, and that is to be an error.
    """
    state = state or RunState()
    state.registry = plan.registry
    _check_resume(resume, state, executor)
    if initial_tasks is None:
        check_first_stage(plan)
    if state.existing == "error" and not resume:  # before the ledger of an earlier run is replaced
        check_nothing_exists(plan)
    if state.directory is None or executor.is_limited:
        if state.directory is not None:
            start_over(state.directory, plan)  # the ledger too: parts of files are going to replace those it calls done
        return _run(plan, executor, state, initial_tasks, None)
    with open_ledger(state.directory, plan, initial_tasks=initial_tasks, resume=resume) as opened:
        state.ledger = opened.ledger
        for planned in plan.stages:
            state.stats_of(planned.stage.name)
        if opened.decision is not None:
            state.restore(opened.decision)
        if opened.ledger is None:
            result = _result(state, Outputs(), opened.decision, was_finished=True)
            result.warnings += _outcome_warnings(plan, result, opened.decision)
            return result
        if state.existing == "error" and resume:
            check_nothing_exists(plan, sources=opened.ledger.begun)
        return _run(plan, executor, state, initial_tasks, opened.decision)


def _run(
    plan: Plan,
    executor: Executor,
    state: RunState,
    initial_tasks: Iterable[Task[Any]] | None,
    decision: Decision | None,
) -> RunResult:
    registry = plan.registry
    directory = state.directory
    if directory is not None:
        directory.write_plan(plan)
    registry.notify("curator_run_started", plan=plan, run_dir=None if directory is None else str(directory.path))
    outputs = Outputs()
    about_existing: list[str] = []
    interrupted = is_failing = False
    try:
        try:
            outputs.extend(stream_plan(plan, executor, state=state, initial_tasks=initial_tasks))
        except KeyboardInterrupt:
            interrupted = True
        interrupted = interrupted or state.stop_requested.is_set()
        if not interrupted:
            begun = () if decision is None or state.ledger is None else state.ledger.begun
            written = chain(state.restored.paths(), outputs.paths())
            about_existing = existing_warnings(plan, written, state.existing, sources=begun)
        _close_ledger(plan, state, is_over=not interrupted)
    except BaseException:
        is_failing = True
        _keep_what_is_done(state)
        raise
    finally:
        ordered = outputs if decision is not None else state.in_order(outputs)
        result = _result(state, ordered, decision, interrupted=interrupted)
        if not (is_failing or interrupted):
            result.warnings += _outcome_warnings(plan, result, decision)
            result.warnings += about_existing
        unfinished = finish_stages(plan)
        if unfinished is not None and is_failing:  # the error of the run is the one that is raised
            _log.warning("%s", unfinished.message)
        registry.notify("curator_run_finished", plan=plan, result=result)
        _write_result(state, result, is_failing=is_failing)
    if unfinished is not None:
        raise unfinished
    return result


def _outcome_warnings(plan: Plan, result: RunResult, decision: Decision | None) -> list[str]:
    loss = loss_of_all(result, plan)
    return [*([] if decision is None else decision.warnings), *([] if loss is None else [loss])]


def _write_result(state: RunState, result: RunResult, *, is_failing: bool) -> None:
    """Keep the summary; that this is impossible for a failing run, too, must not hide why it failed."""
    if state.directory is None:
        return
    try:
        state.directory.write_result(result.summary(), result.iter_outputs())
    except (CuratorError, OSError) as error:
        if not is_failing:
            raise
        _log.warning("the summary of the run could not be written: %s", error)


def _result(
    state: RunState,
    outputs: Sequence[Task[Any]],
    decision: Decision | None,
    *,
    interrupted: bool = False,
    was_finished: bool = False,
) -> RunResult:
    resumed = 0
    if decision is not None:
        resumed = len(decision.content.done)
        state.restored.extend(outputs)
        outputs = in_source_order(state.restored, decision.order)
    return RunResult(
        outputs,
        stats=StatsTable(list(state.stats.values())),
        quarantined=state.quarantined,
        quarantined_count=state.quarantined_count,
        wall_s=time.monotonic() - state.started_s,
        time_to_first_output_s=state.first_output_s,
        peak_object_store_bytes=state.peak_object_store_bytes,
        run_dir=None if state.directory is None else str(state.directory.path),
        interrupted=interrupted,
        resumed_sources=resumed,
        was_finished=was_finished,
        missing=None if decision is None else decision.missing,
    )


def _check_resume(resume: Resume, state: RunState, executor: Executor) -> None:
    if resume not in (False, True, "changed"):
        raise ConfigError(f"resume is {resume!r}", fix='use True, False or "changed"')
    if resume and state.directory is None:
        raise ConfigError("a run is continued from its run directory, and none is given", fix="add run_dir (--run-dir)")
    if resume and executor.is_limited:
        raise ConfigError(
            "a run with a limit cannot be continued: it is for trying things out, and keeps no ledger",
            fix="leave the limit or the resume out",
        )


def _close_ledger(plan: Plan, state: RunState, *, is_over: bool) -> None:
    if state.ledger is None or state.directory is None:
        return
    state.ledger.commit()
    # Processes of a run that was killed may have lived on for a moment after the clean-up at the start.
    remove_torn(state.directory, plan, state.ledger.begun)
    if is_over:
        state.ledger.finish()


def _keep_what_is_done(state: RunState) -> None:
    """Record what a failing run has finished; that this is impossible, too, must not hide why it failed."""
    try:
        if state.ledger is not None:
            state.ledger.commit()
        if state.directory is not None:
            state.directory.sync()
    except (CuratorError, OSError) as error:
        _log.warning("source tasks that were done last are not recorded: %s", error)
