"""Statistics of a run, by stage."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from curator_core.values.counts import Counts
from curator_core.values.errors import UnknownNameError
from curator_core.values.source_ids import source_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.values.counts import SourceCounts

__all__ = ["StageStats", "StatsTable"]


class StageStats(Counts):
    """Counts of one stage of a run, for any number of threads to add to; those of each source task too, if asked for.

    What a stage reports between two inputs belongs to the first of the tasks that came in last, in the same thread.
    Executors with pools of workers also write down ``busy_fraction`` (the fraction of their workers' time spent
    working, after the warm-up), ``workers`` (seconds since the start, number of workers) and ``queue_peak`` (most tasks
    that ever waited).

    Args:
        name: Name of the stage.
        sources: Where to count by source task as well.
        counted: Counts to start from, by name.
    """

    def __init__(self, name: str, sources: SourceCounts | None = None, **counted: Any) -> None:
        super().__init__(**counted)
        self.name = name
        self.busy_fraction: float | None = None
        self.workers: list[tuple[float, int]] = []
        self.queue_peak = 0
        self._sources = sources
        self._current = threading.local()  # .source: of the task that came in last
        self._lock = threading.Lock()

    def saw(self, tasks: Sequence[Task[Any]], *, process_time_s: float = 0.0) -> None:
        """Count tasks that arrive, and the time spent on them."""
        self._current.source = source_id(tasks[0].task_id)
        with self._lock:
            for task in tasks:
                for counts in self._of(source_id(task.task_id)):
                    counts.tasks_in += 1
                    counts.rows_in += task.num_items
            if process_time_s:
                for counts in self._of(self._current.source):
                    counts.process_time_s += process_time_s

    def passed(self, task: Task[Any], output: Task[Any], *, process_time_s: float) -> None:
        """Count a task that arrived, the time spent on it and the one task made of it."""
        if self._sources is not None:
            self.saw([task], process_time_s=process_time_s)
            self.made(output)
            return
        with self._lock:  # all at once, because pipelines of cheap stages spend their time here
            self.tasks_in += 1
            self.rows_in += task.num_items
            self.process_time_s += process_time_s
            self.tasks_out += 1
            self.rows_out += output.num_items
            self.bytes_out += output.size_bytes

    def made(self, task: Task[Any], *, sign: int = 1) -> None:
        """Count a task that leaves; with the sign -1, take back one that cannot be sent."""
        with self._lock:
            for counts in self._of(source_id(task.task_id)):
                counts.tasks_out += sign
                counts.rows_out += sign * task.num_items
                counts.bytes_out += sign * task.size_bytes

    def keep(self, recording: Recording) -> None:
        """Add the reports of a successful call."""
        with self._lock:
            super().keep(recording)
            if self._sources is not None:
                self._sources.of(getattr(self._current, "source", ""), self.name).keep(recording)

    def lose(self, record: QuarantineRecord, *, is_kept: bool) -> None:
        """Count rows that could not be processed: kept in quarantine, or skipped."""
        with self._lock:
            super().lose(record, is_kept=is_kept)
            if self._sources is not None:
                self._sources.of(source_id(record.task_id), self.name).lose(record, is_kept=is_kept)

    def add(self, **amounts: float) -> None:
        """Add to numbers by name."""
        with self._lock:
            for counts in self._of(getattr(self._current, "source", "")):
                for name, amount in amounts.items():
                    setattr(counts, name, getattr(counts, name) + amount)

    def merge(self, other: Counts) -> None:
        """Add the counts of another worker or of an earlier run."""
        with self._lock:
            super().merge(other)

    def counted(self) -> Counts:
        """Return a copy of the counts so far."""
        counts = Counts()
        with self._lock:
            counts.merge(self)
        return counts

    def take(self) -> Counts:
        """Return the counts so far and start from zero."""
        with self._lock:
            taken = Counts(**{each.name: getattr(self, each.name) for each in fields(Counts)})
            super().__init__()
        return taken

    @property
    def rows_seen(self) -> int:
        """Rows the stage had to do with: those it got, or made and refused where that is more (a reader)."""
        return max(self.rows_in, self.rows_out + self.rows_failed)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        with self._lock:
            numbers = {each.name: getattr(self, each.name) for each in fields(Counts)}
            return {
                "name": self.name,
                **numbers,
                "process_time_s": round(self.process_time_s, 6),
                "setup_time_s": round(self.setup_time_s, 6),
                "dropped": dict(sorted(self.dropped.items())),
                "failed": dict(sorted(self.failed.items())),
                "counters": {name: round(amount, 6) for name, amount in sorted(self.counters.items())},
                "scores": self.scores.summary(),
                "busy_fraction": self.busy_fraction,
                "workers": self.workers,
                "queue_peak": self.queue_peak,
            }

    def _of(self, source: str) -> tuple[Counts, ...]:
        """Return all counts that a source task adds to."""
        return (self,) if self._sources is None else (self, self._sources.of(source, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        figures = {"busy_fraction": self.busy_fraction, "workers": self.workers, "queue_peak": self.queue_peak}
        return _restored, (self.name, self.to_json(), figures)


def _restored(name: str, counted: dict[str, Any], figures: dict[str, Any]) -> StageStats:
    stats = StageStats(name)
    stats.merge(Counts.from_json(counted))
    vars(stats).update(figures)
    return stats


class StatsTable(Mapping[str, StageStats]):
    """Statistics by stage, in pipeline order; ``"word_count"`` finds ``"text.word_count"`` where that is unique."""

    def __init__(self, stats: Sequence[StageStats]) -> None:
        self._by_name = {each.name: each for each in stats}

    def __getitem__(self, name: str) -> StageStats:
        if name in self._by_name:
            return self._by_name[name]
        same_tail = [each for each in self._by_name if each.rpartition(".")[2] == name]
        if len(same_tail) == 1:
            return self._by_name[same_tail[0]]
        raise _UnknownStageError(name, self._by_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"StatsTable({list(self._by_name)})"


class _UnknownStageError(UnknownNameError, KeyError):
    """Also a KeyError, so that the table behaves as a mapping (``in``, ``get``)."""

    def __init__(self, name: str, known: Mapping[str, StageStats]) -> None:
        super().__init__("stage", name, known, fix=f"the run had: {', '.join(known)}")
