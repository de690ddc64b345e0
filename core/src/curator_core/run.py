"""One run of a plan: its live state, and the call that takes it from start to result."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from curator_core.errors import ConfigError
from curator_core.failure_limit import FailureLimit
from curator_core.result import RunResult
from curator_core.run_directory import RunDirectory
from curator_core.stats import StageStats, StatsTable
from curator_core.tasks import EmptyTask

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from curator_core.executors.base import Executor
    from curator_core.live import LiveStage
    from curator_core.plan import Plan
    from curator_core.quarantine import QuarantineRecord
    from curator_core.recording import Recording
    from curator_core.tasks import Task

__all__ = ["KEPT_RECORDS", "RunState", "run_plan", "stream_plan"]

KEPT_RECORDS = 10_000
"""Quarantine records kept in memory for ``RunResult.quarantined``; the run directory has all of them."""


class RunState:
    """What a run has done so far. Executors write it, progress displays read it.

    Args:
        run_dir: Folder for quarantine, dropped rows and the result; none is written without it.
    """

    def __init__(self, run_dir: str | os.PathLike[str] | None = None) -> None:
        self.directory = RunDirectory(run_dir) if run_dir is not None else None
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
        self._lock = threading.Lock()

    def stats_of(self, stage_name: str) -> StageStats:
        """Return the statistics of a stage, made at its first use."""
        with self._lock:
            return self.stats.setdefault(stage_name, StageStats(stage_name))

    def apply(self, executor: Executor) -> None:
        """Take over what an executor says about failures.

        Raises:
            ConfigError: The share of failures that it allows is no share.
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
        stats.lose(record.error_type, record.rows, is_kept=True)
        self._keep(record)
        self._check_failures(stats)

    def skip(self, record: QuarantineRecord) -> None:
        """Count a record that is not kept.

        Raises:
            TooManyFailuresError: More of the stage's rows have failed than the run allows.
        """
        stats = self.stats_of(record.stage)
        stats.lose(record.error_type, record.rows, is_kept=False)
        self._check_failures(stats)

    def _keep(self, record: QuarantineRecord) -> None:
        """Write a record, tell observers, and count it."""
        from curator_core.registry import default_registry

        record = record.redacted() if self.keeps_payload else replace(record.redacted(), payload=None, row_id=None)
        if self.directory is not None:
            self.directory.add_quarantined(record)
        with self._lock:
            self.quarantined_count += 1
            if len(self.quarantined) < KEPT_RECORDS:
                self.quarantined.append(record)
        default_registry().notify("curator_task_failed", record=record)

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
        from curator_core.tasks import concat_tables

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

    def note_output(self) -> None:
        """Note the moment of the first output."""
        if self.first_output_s is None:
            self.first_output_s = time.monotonic() - self.started_s


def stream_plan(
    plan: Plan, executor: Executor, *, state: RunState, initial_tasks: Iterable[Task[Any]] | None = None
) -> Iterator[Task[Any]]:
    """Yield the outputs of a plan as they finish."""
    state.apply(executor)
    for planned in plan.stages:
        state.stats_of(planned.stage.name)
    tasks = initial_tasks if initial_tasks is not None else [EmptyTask()]
    for task in executor.stream(plan, tasks, state):
        state.note_output()
        yield task


def run_plan(
    plan: Plan,
    executor: Executor,
    *,
    initial_tasks: Iterable[Task[Any]] | None = None,
    state: RunState | None = None,
    resume: bool = False,
) -> RunResult:
    """Run a plan to its end and return everything it produced and counted.

    An interruption (Ctrl-C) ends the run early; the result then says ``interrupted``.
    """
    if resume:
        raise ConfigError(
            "resume=True: this version keeps no ledger of finished work yet, so a run cannot be continued",
            fix="run again without resume; output names are deterministic, so files are replaced, not doubled",
        )
    from curator_core.registry import default_registry

    state = state or RunState()
    registry = default_registry()
    run_dir = None if state.directory is None else str(state.directory.path)
    if state.directory is not None:
        state.directory.write_plan(plan)
    registry.notify("curator_run_started", plan=plan, run_dir=run_dir)
    outputs: list[Task[Any]] = []
    interrupted = False
    try:
        outputs.extend(stream_plan(plan, executor, state=state, initial_tasks=initial_tasks))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        result = RunResult(
            executor.in_order(outputs),
            stats=StatsTable(list(state.stats.values())),
            quarantined=state.quarantined,
            quarantined_count=state.quarantined_count,
            wall_s=time.monotonic() - state.started_s,
            time_to_first_output_s=state.first_output_s,
            peak_object_store_bytes=state.peak_object_store_bytes,
            run_dir=run_dir,
            interrupted=interrupted or state.stop_requested.is_set(),
        )
        if state.directory is not None:
            state.directory.write_result(result.to_dict())
        registry.notify("curator_run_finished", plan=plan, result=result)
    return result
