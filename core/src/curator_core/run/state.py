"""The live state of a run: executors write it, progress displays read it."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from curator_core.authoring.existing_output import check_existing
from curator_core.call.failure_limit import too_many_failures
from curator_core.call.lineage import number_sources
from curator_core.run.directory import RunDirectory
from curator_core.run.ledger.descriptions import output_from
from curator_core.run.ledger.run_ledger import StageProgress
from curator_core.run.outputs import Outputs
from curator_core.values.counts import Counts
from curator_core.values.stats import StageStats

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from curator_core.authoring.existing_output import Existing
    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.executors.base import Executor
    from curator_core.registry import Registry
    from curator_core.run.ledger.resume import Decision
    from curator_core.run.ledger.run_ledger import RunLedger

__all__ = ["KEPT_RECORDS", "LiveStage", "RunState"]

_log = logging.getLogger(__name__)

KEPT_RECORDS = 10_000
"""Quarantine records kept in memory for ``RunResult.quarantined``; the run directory has all of them."""


@dataclass(frozen=True)
class LiveStage:
    """One stage of a run under way, in an executor with workers.

    Args:
        step: Name of the step it is part of; the stages of a step share its workers.
        leads_step: Whether it is the first of its step; the others have no queue of their own.
        queued: Tasks that wait in front of it.
        running: Tasks in the hands of workers.
        workers: Workers that are ready.
        busy_fraction: Fraction of them that have work, over the last second or so.
        remaining: Tasks it still has to do, about, once all the input is known.
        is_bottleneck: Whether it sets the pace of the run.
    """

    step: str
    leads_step: bool = True
    queued: int = 0
    running: int = 0
    workers: int = 0
    busy_fraction: float = 0.0
    remaining: float | None = None
    is_bottleneck: bool = False


class RunState:
    """The live state of a run: statistics, quarantine, ledger. Executors write it, progress displays read it.

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
        self._max_failed_fraction: float | None = None
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
        """Return where a stage in this process reports its tasks, if the run keeps a ledger."""
        return None if self.ledger is None else StageProgress(self.ledger, position)

    def stats_of(self, stage_name: str) -> StageStats:
        """Return the statistics of a stage, made at its first use."""
        with self._lock:
            stats = self.stats.get(stage_name)
            if stats is None:
                counts = None if self.ledger is None else self.ledger.counts
                stats = self.stats[stage_name] = StageStats(stage_name, counts)
            return stats

    def apply(self, executor: Executor) -> None:
        """Apply the executor's settings about failures."""
        self._max_failed_fraction = executor.max_failed_fraction
        self.keeps_payload = executor.quarantine_payload
        if self.directory is not None:
            self.directory.keeps_payload = self.keeps_payload

    def quarantine(self, record: QuarantineRecord, task: Task[Any] | None = None) -> None:
        """Put a record in quarantine, with its task or rows if available.

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
        """End the run when too much has failed; reports that arrive while it ends do not raise again."""
        fraction = self._max_failed_fraction
        error = None if fraction is None else too_many_failures(stats, fraction)
        if error is not None:
            self._max_failed_fraction = None
            raise error

    def keep_dropped(self, stage_name: str, task_id: str, recording: Recording) -> None:
        """Write dropped rows that a filter handed over."""
        if self.directory is None or not recording.dropped_rows:
            return
        from curator_core.authoring.tasks import concat_tables

        self.directory.write_dropped(stage_name, task_id, concat_tables(recording.dropped_rows))

    def absorb(self, stats: Mapping[str, Counts], quarantined: Iterable[QuarantineRecord]) -> None:
        """Add the reports of a worker process.

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
        """Restore counts, outputs and quarantine of source tasks that an earlier run has finished."""
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
            self.stats_of(self._named_today(name)).merge(Counts.from_json(counts))

    def _named_today(self, stage_name: str) -> str:
        """Return the name that a stage of an earlier run has in this one."""
        if stage_name in self.stats or self.registry is None:
            return stage_name
        return self.registry.canonical_name(stage_name)

    def note_output(self, task: Task[Any]) -> None:
        """Record an output, and the time of the first one."""
        if self.first_output_s is None:
            self.first_output_s = time.monotonic() - self.started_s
        if self.ledger is not None:
            self.ledger.delivered(task)
