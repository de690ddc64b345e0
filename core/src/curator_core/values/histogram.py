"""A histogram of any numbers in bounded space that can be merged: a fixed number of bins per power of two."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Histogram"]

_BINS_PER_OCTAVE = 4
_MAX_OCTAVE = 40  # |x| is clamped to [2**-40, 2**40]: at most 2 * 80 * bins_per_octave + 1 bins


@dataclass
class Histogram:
    """Counts of scores in logarithmic bins, with exact count, minimum and maximum.

    >>> histogram = Histogram()
    >>> histogram.add_values([1.0, 1.0, 100.0])
    >>> histogram.count, histogram.minimum, histogram.maximum
    (3, 1.0, 100.0)

    Args:
        bins: Counts by number of the bin.
        count: How many numbers.
        minimum: The smallest.
        maximum: The largest.
        bins_per_octave: Bins for each power of two: 4 make quantiles exact to 19 %, 32 to 2.2 %.
    """

    bins: Counter[int] = field(default_factory=Counter)
    count: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    bins_per_octave: int = _BINS_PER_OCTAVE

    def add(self, scores: pl.Series) -> None:
        """Add a series of numbers; nulls and NaNs are left out."""
        import polars as pl

        values = scores.cast(pl.Float64, strict=False).drop_nulls()
        values = values.filter(values.is_finite())
        if values.is_empty():
            return
        limit = 2.0**_MAX_OCTAVE
        size = values.abs().clip(1 / limit, limit)
        index = ((size.log(2) + _MAX_OCTAVE) * self.bins_per_octave).floor().cast(pl.Int32) + 1
        signed = (index * values.sign().cast(pl.Int32)).rename("bin")
        for bin_index, count in signed.value_counts(name="n").iter_rows():
            self.bins[bin_index] += count
        self.count += len(values)
        self.minimum = min(self.minimum, float(values.min()))
        self.maximum = max(self.maximum, float(values.max()))

    def add_values(self, values: list[float]) -> None:
        """Add plain numbers."""
        import polars as pl

        self.add(pl.Series(values, dtype=pl.Float64))

    def merge(self, other: Histogram) -> None:
        """Add the counts of another histogram, with bins of the same width, to this one."""
        if not other.count:
            return
        assert other.bins_per_octave == self.bins_per_octave
        self.bins.update(other.bins)
        self.count += other.count
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)

    def clear(self) -> None:
        """Forget everything."""
        self.bins.clear()
        self.count, self.minimum, self.maximum = 0, math.inf, -math.inf

    def summary(self) -> dict[str, float] | None:
        """Return count, range and quartiles, or None when nothing was added."""
        if not self.count:
            return None
        quartiles = {f"p{percent}": self.quantile(percent / 100) for percent in (25, 50, 75)}
        return {"count": self.count, "min": self.minimum, **quartiles, "max": self.maximum}

    def quantile(self, fraction: float) -> float:
        """Return a value that about ``fraction`` of the numbers do not exceed (within a bin's width)."""
        if not self.count:
            return math.nan
        rank = fraction * self.count
        seen = 0
        for bin_index in sorted(self.bins):
            seen += self.bins[bin_index]
            if seen >= rank:
                return min(max(self.upper_edge(bin_index), self.minimum), self.maximum)
        return self.maximum

    def upper_edge(self, bin_index: int) -> float:
        """Return the largest number of a bin."""
        if bin_index == 0:
            return 0.0
        octave = (abs(bin_index) - (0 if bin_index > 0 else 1)) / self.bins_per_octave - _MAX_OCTAVE
        return math.copysign(2.0**octave, bin_index)
