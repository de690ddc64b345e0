"""Counts of a stage: one type for a call, a source task, a worker and a whole run, which add up."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from curator_core.values.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.authoring.recording import Recording
    from curator_core.call.quarantine_record import QuarantineRecord

__all__ = ["Counts", "SourceCounts"]


@dataclass(slots=True)
class Counts:
    """Counts of one stage, which those of other calls, workers and runs can be added to.

    ``rows_*`` count table rows (one for a task that is not a table); ``dropped`` maps a filter's reasons to rows;
    ``failed`` maps classes of errors to rows that are in quarantine or were skipped; ``counters`` has what the stage
    counts itself (``report().count(requests=1)``); ``process_time_s`` is time inside the stage's own code, summed over
    workers.
    """

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

    @property
    def rows_dropped(self) -> int:
        """Rows that were dropped, whatever the reason."""
        return sum(self.dropped.values())

    @property
    def rows_failed(self) -> int:
        """Rows that could not be processed."""
        return sum(self.failed.values())

    def keep(self, recording: Recording) -> None:
        """Add the reports of a successful call."""
        self.dropped.update(recording.dropped)
        self.counters.update(recording.counters)
        self.scores.merge(recording.scores)

    def lose(self, record: QuarantineRecord, *, is_kept: bool) -> None:
        """Count rows that could not be processed: kept in quarantine, or skipped.

        A task without rows, such as a file that could not be opened, counts as one.
        """
        self.failed[record.error_type] += max(1, record.rows)
        self.quarantined += is_kept
        self.skipped += not is_kept

    def merge(self, other: Counts) -> None:
        """Add other counts of the same stage."""
        for name in _NUMBERS:
            if amount := getattr(other, name):
                setattr(self, name, getattr(self, name) + amount)
        self.dropped.update(other.dropped)
        self.failed.update(other.failed)
        self.counters.update(other.counters)
        self.scores.merge(other.scores)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, without those that are zero."""
        plain: dict[str, Any] = {name: amount for name in _NUMBERS if (amount := getattr(self, name))}
        plain |= {name: round(amount, 6) for name, amount in plain.items() if isinstance(amount, float)}
        plain |= {name: dict(counted) for name in _COUNTERS if (counted := getattr(self, name))}
        if (scores := self.scores).count:
            plain["scores"] = {"min": scores.minimum, "max": scores.maximum, "bins": sorted(scores.bins.items())}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Counts:
        """Return the counts that :meth:`to_json` described."""
        counts = Counts(**{name: amount for name, amount in plain.items() if name in _NUMBERS})
        for name in _COUNTERS:
            getattr(counts, name).update(plain.get(name, {}))
        if scores := plain.get("scores"):
            counts.scores.minimum, counts.scores.maximum = scores.get("min", math.inf), scores.get("max", -math.inf)
            counts.scores.bins.update(dict(scores["bins"]))
            counts.scores.count = sum(counts.scores.bins.values())
        return counts

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts.from_json, (self.to_json(),)  # most are zero, and a report of a call has many


_COUNTERS = ("dropped", "failed", "counters")
_NUMBERS = tuple(each.name for each in fields(Counts) if each.name not in (*_COUNTERS, "scores"))


class SourceCounts:
    """Counts by source task and stage; those of no source task are under the empty id."""

    def __init__(self) -> None:
        self._by_source: dict[str, dict[str, Counts]] = {}

    def of(self, source: str, stage: str) -> Counts:
        """Return the counts of a stage for a source, to be added to."""
        by_stage = self._by_source.setdefault(source, {})
        counts = by_stage.get(stage)
        if counts is None:
            counts = by_stage[stage] = Counts()
        return counts

    def take(self, source: str) -> dict[str, Counts]:
        """Return the counts for a source, by stage, and forget them."""
        return self._by_source.pop(source, {})

    def take_all(self) -> dict[str, dict[str, Counts]]:
        """Return all counts, by source and stage, and start from zero."""
        taken, self._by_source = self._by_source, {}
        return taken

    def merge(self, counts: Mapping[str, Mapping[str, Counts]]) -> None:
        """Add the counts of another process."""
        for source, by_stage in counts.items():
            for stage, each in by_stage.items():
                self.of(source, stage).merge(each)
