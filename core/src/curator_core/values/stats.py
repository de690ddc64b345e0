"""What a run counts, per stage."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.values.errors import UnknownNameError
from curator_core.values.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord

__all__ = ["StageStats", "StatsTable"]


_SUMMED = (
    "tasks_in",
    "tasks_out",
    "rows_in",
    "rows_out",
    "bytes_out",
    "process_time_s",
    "setup_time_s",
    "retries",
    "failures",
    "quarantined",
    "skipped",
)


@dataclass
class StageStats:
    """Counts of one stage.

    ``rows_*`` count table rows (one for a task that is not a table); ``dropped`` maps a filter's reasons to rows;
    ``failed`` maps classes of errors to rows that are in quarantine or were skipped; ``counters`` has what the stage
    counts itself (``report().count(requests=1)``);
    ``process_time_s`` is time inside the stage's own code, summed over workers. Executors with pools of workers also
    note ``busy_fraction`` (the fraction of their workers' time spent working, after the warm-up), ``workers`` (seconds
    since the start, number of workers) and ``queue_peak`` (most tasks that ever waited).
    """

    name: str
    tasks_in: int = 0
    tasks_out: int = 0
    rows_in: int = 0
    rows_out: int = 0
    bytes_out: int = 0
    process_time_s: float = 0.0
    setup_time_s: float = 0.0
    retries: int = 0
    failures: int = 0
    quarantined: int = 0
    skipped: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    scores: Histogram = field(default_factory=Histogram)
    counters: Counter[str] = field(default_factory=Counter)
    busy_fraction: float | None = None
    workers: list[tuple[float, int]] = field(default_factory=list)
    queue_peak: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def saw(self, tasks: Sequence[Task[Any]]) -> None:
        """Count tasks that arrive."""
        with self._lock:
            self.tasks_in += len(tasks)
            self.rows_in += sum(task.num_items for task in tasks)

    def saw_one(self, task: Task[Any], *, process_time_s: float) -> None:
        """Count a task that arrived, and the time spent on it."""
        with self._lock:
            self.tasks_in += 1
            self.rows_in += task.num_items
            self.process_time_s += process_time_s

    def passed(self, task: Task[Any], output: Task[Any], *, process_time_s: float) -> None:
        """Count a task that arrived, the time spent on it and the one task made of it, all at once."""
        with self._lock:
            self.tasks_in += 1
            self.rows_in += task.num_items
            self.process_time_s += process_time_s
            self.tasks_out += 1
            self.rows_out += output.num_items
            self.bytes_out += output.size_bytes

    def made(self, task: Task[Any]) -> None:
        """Count a task that leaves."""
        with self._lock:
            self.tasks_out += 1
            self.rows_out += task.num_items
            self.bytes_out += task.size_bytes

    def unmade(self, task: Task[Any]) -> None:
        """Undo the count of a task that cannot be sent."""
        with self._lock:
            self.tasks_out -= 1
            self.rows_out -= task.num_items
            self.bytes_out -= task.size_bytes

    def keep(self, recording: Recording) -> None:
        """Add what a successful call reported."""
        with self._lock:
            self.dropped.update(recording.dropped)
            self.scores.merge(recording.scores)
            self.counters.update(recording.counters)

    def lose(self, record: QuarantineRecord, *, is_kept: bool) -> None:
        """Count rows that could not be processed: kept in quarantine, or skipped.

        A task without rows, such as a file that could not be opened, counts as one.
        """
        with self._lock:
            self.failed[record.error_type] += max(1, record.rows)
            self.quarantined += is_kept
            self.skipped += not is_kept

    @property
    def rows_failed(self) -> int:
        """Rows that could not be processed."""
        return sum(self.failed.values())

    @property
    def rows_seen(self) -> int:
        """Rows the stage had to do with: those it got, or made and refused where that is more (a reader)."""
        return max(self.rows_in, self.rows_out + self.rows_failed)

    def add(self, **amounts: float) -> None:
        """Add to counters by name."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    def split_off(self) -> StageStats:
        """Return the counts so far and start from zero; holders of this object keep counting in it."""
        with self._lock:
            taken = StageStats(
                self.name,
                dropped=Counter(self.dropped),
                failed=Counter(self.failed),
                scores=self.scores.copy(),
                counters=Counter(self.counters),
            )
            for name in _SUMMED:
                setattr(taken, name, getattr(self, name))
                setattr(self, name, type(getattr(self, name))())
            self.dropped.clear()
            self.failed.clear()
            self.scores.clear()
            self.counters.clear()
        return taken

    def merge(self, other: StageStats) -> None:
        """Add another worker's counts of the same stage."""
        with self._lock:
            for name in _SUMMED:
                setattr(self, name, getattr(self, name) + getattr(other, name))
            self.dropped.update(other.dropped)
            self.failed.update(other.failed)
            self.scores.merge(other.scores)
            self.counters.update(other.counters)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        with self._lock:
            return {
                "name": self.name,
                "tasks_in": self.tasks_in,
                "tasks_out": self.tasks_out,
                "rows_in": self.rows_in,
                "rows_out": self.rows_out,
                "bytes_out": self.bytes_out,
                "process_time_s": round(self.process_time_s, 6),
                "setup_time_s": round(self.setup_time_s, 6),
                "retries": self.retries,
                "failures": self.failures,
                "quarantined": self.quarantined,
                "skipped": self.skipped,
                "dropped": dict(sorted(self.dropped.items())),
                "failed": dict(sorted(self.failed.items())),
                "scores": self.scores.summary(),
                "counters": {name: round(amount, 6) for name, amount in sorted(self.counters.items())},
                "busy_fraction": self.busy_fraction,
                "workers": self.workers,
                "queue_peak": self.queue_peak,
            }

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())


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
