"""What a stage says beside its output during one call: rows dropped and why, bad records, counts.

The runner opens a :class:`Recording` around each call and keeps it only when the call succeeds, so a retried call is
counted once. Code inside a stage talks to :func:`current`; outside a run that is a strict recording, which raises on a
bad record instead of hiding it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_core.values.errors import DataError
from curator_core.values.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextvars import Token

    import pyarrow as pa

__all__ = ["IGNORED", "BadRecord", "Recording", "report"]

IGNORED = "ignored files: "
"""Beginning of the names of counters of files that were not looked for, by their extensions."""


@dataclass(frozen=True)
class BadRecord:
    """A record that a stage could not use while the rest of its task went on.

    >>> BadRecord("the line is not JSON", source="a.jsonl", row=1024).rows
    1

    Args:
        message: What is wrong with it.
        source: File it is in.
        row: Record number or byte offset in the file.
        error_type: Short class of the error, for counting.
        payload: The record, or the beginning of it.
        rows: How many records it stands for, where many were refused in a row.
    """

    message: str
    source: str | None = None
    row: int | None = None
    error_type: str = "DataError"
    payload: str | bytes | None = None
    rows: int = 1


@dataclass
class Recording:
    """Everything a stage reported during one call.

    >>> with Recording().active() as recording:
    ...     report().count(requests=3)
    >>> recording.counters["requests"]
    3
    """

    dropped: Counter[str] = field(default_factory=Counter)
    dropped_rows: list[pa.Table] = field(default_factory=list)
    bad_records: list[BadRecord] = field(default_factory=list)
    scores: Histogram = field(default_factory=Histogram)
    counters: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count rows that the stage dropped for a reason."""
        self.dropped[reason] += count

    def count(self, **amounts: float) -> None:
        """Add to counters of the stage's own, by name: requests made, tokens spent, bytes fetched."""
        for name, amount in amounts.items():
            self.counters[name] += amount  # type: ignore[assignment]  # a Counter also sums fractions

    def keep_dropped_rows(self, table: pa.Table) -> None:
        """Hand dropped rows, with their reasons, to the run's side output."""
        self.dropped_rows.append(table)

    def bad_record(self, record: BadRecord) -> None:
        """Report a record for quarantine."""
        self.bad_records.append(record)

    def merge(self, other: Recording) -> None:
        """Add what another call reported."""
        self.dropped.update(other.dropped)
        self.dropped_rows.extend(other.dropped_rows)
        self.bad_records.extend(other.bad_records)
        self.scores.merge(other.scores)
        self.counters.update(other.counters)

    def clear(self) -> None:
        """Forget everything reported so far."""
        self.dropped.clear()
        self.dropped_rows.clear()
        self.bad_records.clear()
        self.scores.clear()
        self.counters.clear()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was reported."""
        return not (self.dropped or self.dropped_rows or self.bad_records or self.scores.count or self.counters)

    def begin(self) -> Token[Recording | None]:
        """Make this the recording that stage code in this thread talks to, until :meth:`end`."""
        return _current.set(self)

    def end(self, token: Token[Recording | None]) -> None:
        """Undo :meth:`begin`."""
        _current.reset(token)

    @contextmanager
    def active(self) -> Iterator[Recording]:
        """Make this the recording that stage code in this thread talks to."""
        token = self.begin()
        try:
            yield self
        finally:
            self.end(token)


class _StrictRecording(Recording):
    """Stands in when no executor is running: counts go nowhere, a bad record raises."""

    def drop(self, reason: str, count: int = 1) -> None: ...

    def count(self, **amounts: float) -> None: ...

    def keep_dropped_rows(self, table: pa.Table) -> None: ...

    def bad_record(self, record: BadRecord) -> None:
        raise DataError(record.message, source=record.source, row=record.row)


_current: ContextVar[Recording | None] = ContextVar("curator_recording", default=None)


def report() -> Recording:
    """Return the recording of the call that is running.

    >>> with Recording().active() as recording:  # as an executor does around each call of a stage
    ...     report().drop("too_short", 2)
    >>> recording.dropped["too_short"]
    2
    """
    return _current.get() or _StrictRecording()
