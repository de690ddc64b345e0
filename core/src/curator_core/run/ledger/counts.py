"""What a run counts, split by source task: so that the counts of a resumed run cover all of it, once."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import source_id
from curator_core.values.histogram import Histogram
from curator_core.values.stats import StageStats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.authoring.recording import Recording
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord

__all__ = ["Counts", "SourceCounts", "SourcedStats"]


class Counts:
    """Counts of one stage for one source task; only what is not zero takes space."""

    __slots__ = ("counters", "dropped", "failed", "numbers", "scores")

    def __init__(self) -> None:
        self.numbers: dict[str, float] = {}
        self.dropped: dict[str, int] = {}
        self.failed: dict[str, int] = {}
        self.scores: Histogram | None = None
        self.counters: dict[str, float] = {}

    def add(self, name: str, amount: float) -> None:
        """Add to a counter of :class:`StageStats`."""
        self.numbers[name] = self.numbers.get(name, 0) + amount

    def keep(self, recording: Recording) -> None:
        """Add what a call reported."""
        _add_all(self.dropped, recording.dropped)
        _add_all(self.counters, recording.counters)
        if recording.scores.count:
            self.scores = self.scores or Histogram()
            self.scores.merge(recording.scores)

    def merge(self, other: Counts) -> None:
        """Add other counts."""
        for name, amount in other.numbers.items():
            self.add(name, amount)
        _add_all(self.dropped, other.dropped)
        _add_all(self.failed, other.failed)
        _add_all(self.counters, other.counters)
        if other.scores is not None:
            self.scores = self.scores or Histogram()
            self.scores.merge(other.scores)

    def add_to(self, stats: StageStats) -> None:
        """Make these counts part of a stage's statistics."""
        for name, amount in self.numbers.items():
            setattr(stats, name, getattr(stats, name) + amount)
        stats.dropped.update(self.dropped)
        stats.failed.update(self.failed)
        stats.counters.update(self.counters)
        if self.scores is not None:
            stats.scores.merge(self.scores)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        plain: dict[str, Any] = {
            name: round(amount, 6) if isinstance(amount, float) else amount
            for name, amount in self.numbers.items()
            if amount
        }
        if self.dropped:
            plain["dropped"] = self.dropped
        if self.failed:
            plain["failed"] = self.failed
        if self.counters:
            plain["counters"] = self.counters
        if self.scores is not None:
            scores = self.scores
            plain["scores"] = {"min": scores.minimum, "max": scores.maximum, "bins": sorted(scores.bins.items())}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Counts:
        """Read what :meth:`to_json` returned."""
        counts = cls()
        rest = dict(plain)
        counts.dropped = dict(rest.pop("dropped", {}))
        counts.failed = dict(rest.pop("failed", {}))
        counts.counters = dict(rest.pop("counters", {}))
        scores = rest.pop("scores", None)
        if scores is not None:
            counts.scores = Histogram(minimum=scores.get("min", math.inf), maximum=scores.get("max", -math.inf))
            for number, count in scores["bins"]:
                counts.scores.bins[number] += count
                counts.scores.count += count
        counts.numbers = rest
        return counts


class SourceCounts:
    """Counts by source task and stage; those of no source task are under the empty id."""

    def __init__(self) -> None:
        self._by_source: dict[str, dict[str, Counts]] = {}

    def of(self, source: str, stage: str) -> Counts:
        """Return the counts of a stage for a source."""
        return self._by_source.setdefault(source, {}).setdefault(stage, Counts())

    def take(self, source: str) -> dict[str, Counts]:
        """Return the counts for a source, by stage, and forget them."""
        return self._by_source.pop(source, {})

    def take_all(self) -> dict[str, dict[str, Counts]]:
        """Return all counts, by source and stage, and start anew."""
        taken, self._by_source = self._by_source, {}
        return taken

    def merge(self, counts: Mapping[str, Mapping[str, Counts]]) -> None:
        """Add what :meth:`take_all` returned in another process."""
        for source, by_stage in counts.items():
            for stage, each in by_stage.items():
                self.of(source, stage).merge(each)


class SourcedStats(StageStats):
    """Statistics of a stage that are also counted by source task.

    What a stage reports between two inputs belongs to the first of the tasks that came in last, in the same thread.
    """

    def __init__(self, name: str, counts: SourceCounts) -> None:
        super().__init__(name)
        self._counts = counts
        self._current = threading.local()

    def saw(self, tasks: Sequence[Task[Any]]) -> None:
        super().saw(tasks)
        self._current.source = source_id(tasks[0].task_id)
        for task in tasks:
            self._came_in(source_id(task.task_id), task)

    def saw_one(self, task: Task[Any], *, process_time_s: float) -> None:
        super().saw_one(task, process_time_s=process_time_s)
        source = self._current.source = source_id(task.task_id)
        self._came_in(source, task, process_time_s=process_time_s)

    def passed(self, task: Task[Any], output: Task[Any], *, process_time_s: float) -> None:
        self.saw_one(task, process_time_s=process_time_s)
        self.made(output)

    def made(self, task: Task[Any]) -> None:
        super().made(task)
        with self._lock:
            counts = self._counts.of(source_id(task.task_id), self.name)
            counts.add("tasks_out", 1)
            counts.add("rows_out", task.num_items)
            counts.add("bytes_out", task.size_bytes)

    def unmade(self, task: Task[Any]) -> None:
        super().unmade(task)
        with self._lock:
            counts = self._counts.of(source_id(task.task_id), self.name)
            counts.add("tasks_out", -1)
            counts.add("rows_out", -task.num_items)
            counts.add("bytes_out", -task.size_bytes)

    def keep(self, recording: Recording) -> None:
        super().keep(recording)
        with self._lock:
            self._here().keep(recording)

    def add(self, **amounts: float) -> None:
        super().add(**amounts)
        with self._lock:
            counts = self._here()
            for name, amount in amounts.items():
                counts.add(name, amount)

    def lose(self, record: QuarantineRecord, *, is_kept: bool) -> None:
        super().lose(record, is_kept=is_kept)
        with self._lock:
            counts = self._counts.of(source_id(record.task_id), self.name)
            counts.add("quarantined" if is_kept else "skipped", 1)
            _add_all(counts.failed, {record.error_type: max(1, record.rows)})

    def _came_in(self, source: str, task: Task[Any], *, process_time_s: float = 0.0) -> None:
        with self._lock:
            counts = self._counts.of(source, self.name)
            counts.add("tasks_in", 1)
            counts.add("rows_in", task.num_items)
            if process_time_s:
                counts.add("process_time_s", process_time_s)

    def _here(self) -> Counts:
        return self._counts.of(getattr(self._current, "source", ""), self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        # What travels is the sum: the counts by source belong to the run that is under way here.
        return _plain, (self.__getstate__(),)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in ("_counts", "_current")}


def _add_all(sums: dict[str, Any], amounts: Mapping[str, Any]) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + amount


def _plain(state: dict[str, Any]) -> StageStats:
    stats = StageStats(state["name"])
    stats.__setstate__(state)
    return stats
