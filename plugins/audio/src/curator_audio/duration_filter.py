"""Drop recordings that are too short or too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict, check_range

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["DurationFilter"]


@dataclass
class DurationFilter(Filter):
    """Keep recordings that last ``min_s`` to ``max_s`` seconds; one of unknown duration is dropped as a missing value.

    >>> from curator_audio import AudioBatch
    >>> batch = AudioBatch(data={"uri": ["a.wav", "b.wav"], "duration_s": [0.5, 30.0]})
    >>> DurationFilter(min_s=1, max_s=60).process(batch).data["uri"].to_pylist()
    ['b.wav']

    Args:
        min_s: Shortest duration to keep, in seconds.
        max_s: Longest duration to keep, in seconds; None for no limit.
        duration_column: Column with the duration in seconds.
    """

    min_s: float = 0.1
    max_s: float | None = None
    duration_column: str = "duration_s"

    name = "audio.duration_filter"

    def __post_init__(self) -> None:
        check_range(self.name, min_s=self.min_s, max_s=self.max_s)

    def inputs(self) -> Columns:
        return [self.duration_column]

    def judge(self, batch: TableBatch) -> Verdict:
        duration = batch.series(self.duration_column)
        return Verdict.between(duration, self.min_s, self.max_s, below="too_short", above="too_long")
