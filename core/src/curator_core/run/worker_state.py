"""Reports of running stages in a worker process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import concat_tables
from curator_core.run.directory import RunDirectory
from curator_core.values.counts import Counts
from curator_core.values.stats import StageStats

if TYPE_CHECKING:
    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.values.counts import SourceCounts

__all__ = ["Reports", "WorkerState"]


@dataclass
class Reports:
    """Reports of stages since the last time, ready to be sent to the driver.

    Args:
        stats: Counts by stage.
        quarantined: Records for the quarantine.
        counts: Counts by source task and stage, if the run keeps a ledger.
    """

    stats: dict[str, Counts]
    quarantined: list[QuarantineRecord]
    counts: dict[str, dict[str, Counts]]

    def merge(self, later: Reports) -> None:
        """Add later reports."""
        for name, each in later.stats.items():
            self.stats.setdefault(name, Counts()).merge(each)
        self.quarantined += later.quarantined
        for source, by_stage in later.counts.items():
            mine = self.counts.setdefault(source, {})
            for stage, counts in by_stage.items():
                mine.setdefault(stage, Counts()).merge(counts)


class WorkerState:
    """Reports of the stages in one worker process; the driver absorbs them with ``RunState.absorb``.

    Dropped rows are written from here, so that they do not pass through the driver; the run directory of a run over
    several machines must therefore be on a disk that they share.

    Args:
        run_dir: Folder of the run, if it has one.
        counts: Where to count by source task as well, if the run keeps a ledger.
        keeps_payload: Whether quarantined rows and tasks are kept there.
    """

    def __init__(
        self, run_dir: str | None = None, counts: SourceCounts | None = None, *, keeps_payload: bool = True
    ) -> None:
        self._directory = None if run_dir is None else RunDirectory(run_dir, keeps_payload=keeps_payload)
        self.counts = counts
        self.stats: dict[str, StageStats] = {}
        self.quarantined: list[QuarantineRecord] = []

    def stats_of(self, stage_name: str) -> StageStats:
        """Return the statistics of a stage, made at its first use."""
        stats = self.stats.get(stage_name)
        if stats is None:
            stats = self.stats[stage_name] = StageStats(stage_name, self.counts)
        return stats

    def quarantine(self, record: QuarantineRecord, task: Task[Any] | None = None) -> None:
        """Keep a record for the driver; its task or rows go to the run directory from here."""
        if self._directory is not None and task is not None:
            record = self._directory.keep_payload(record, task)
        self.stats_of(record.stage).lose(record, is_kept=True)
        self.quarantined.append(record)

    def skip(self, record: QuarantineRecord) -> None:
        """Count a record."""
        self.stats_of(record.stage).lose(record, is_kept=False)

    def keep_dropped(self, stage_name: str, task_id: str, recording: Recording) -> None:
        """Write dropped rows to the run directory."""
        if self._directory is not None and recording.dropped_rows:
            self._directory.write_dropped(stage_name, task_id, concat_tables(recording.dropped_rows))

    def take(self) -> Reports:
        """Return everything reported since the last time, and start anew."""
        quarantined, self.quarantined = self.quarantined, []
        counts = {} if self.counts is None else self.counts.take_all()
        return Reports({name: each.take() for name, each in self.stats.items()}, quarantined, counts)
