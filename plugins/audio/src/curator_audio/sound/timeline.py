"""Where the packets of a recording lie in it: one after the other, but for jumps in their time stamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Timeline", "samples_in"]


def samples_in(units: int, per_unit: Fraction) -> int:
    """Return the number of samples in a duration, rounded.

    Args:
        units: The duration, in units of time stamps.
        per_unit: Samples in such a unit.
    """
    return (2 * units * per_unit.numerator + per_unit.denominator) // (2 * per_unit.denominator)


class Timeline:
    """Counts samples, and follows time stamps only where they jump by more than half a packet.

    Time stamps of some formats are rounded to milliseconds, so that counting is more exact.

    >>> from fractions import Fraction
    >>> timeline = Timeline(Fraction(8))
    >>> [timeline.place(pts, 160) for pts in (0, 21, 40, 100, 0)]
    [0, 160, 320, 800, 960]

    Args:
        per_unit: Samples in a unit of the time stamps.
        start: Where the first packet lies; below zero where the recording begins inside it, or behind it.
        zero: Where the recording begins on the scale of the time stamps, in samples, if that is known: the first packet
            is then placed by its time stamp.
    """

    def __init__(self, per_unit: Fraction, *, start: int = 0, zero: int | None = None) -> None:
        self._per_unit = per_unit
        self.end: int = start
        """The first sample behind the last packet."""
        self.zero = zero
        self._is_placed = zero is None

    def place(self, pts: int | None, count: int) -> int:
        """Return where a packet begins. One whose time lies before the end of the last one comes right behind it.

        Args:
            pts: Its time stamp, where it has one.
            count: Its samples.
        """
        if pts is not None:
            at = samples_in(pts, self._per_unit)
            if self.zero is None:
                self.zero = at - self.end
            jump = at - self.zero - self.end
            if not self._is_placed or 2 * jump > count:
                self.end += jump
                self._is_placed = True
            elif 2 * -jump > count:
                self.zero += jump
        start = self.end
        self.end += count
        return start
