"""How well a step's workers were used, and how many there were, over time."""

from __future__ import annotations

__all__ = ["Usage"]

_KEPT_POINTS = 10_000


class Usage:
    """Worker time offered against worker time spent working, from the end of the warm-up on.

    What a worker offers is its lease: from the moment it is given a call until it has none. A worker that holds a GPU
    offers all of its life.
    """

    def __init__(self) -> None:
        self.workers: list[tuple[float, int]] = []
        self._offering = 0
        self._since_s = 0.0
        self._from_s: float | None = None
        self._until_s: float | None = None
        self._offered_s = 0.0
        self._busy_s = 0.0

    @property
    def busy_fraction(self) -> float | None:
        """Fraction of the offered time that was spent working, or None if there was no steady time to measure."""
        return min(1.0, self._busy_s / self._offered_s) if self._offered_s > 0 else None

    def counted(self, count: int, now: float) -> None:
        """Note the number of workers."""
        point = (round(now, 3), count)
        if self.workers and self.workers[-1][0] == point[0]:
            self.workers[-1] = point
            return
        if len(self.workers) >= _KEPT_POINTS:
            del self.workers[1::2]
        self.workers.append(point)

    def offers(self, change: int, now: float) -> None:
        """Note that a worker begins (1) or ends (-1) to offer its time."""
        self._advance(now)
        self._offering += change

    def worked(self, service_s: float, now: float) -> None:
        """Note a call that ended now."""
        if self._from_s is None:
            return
        begin = max(now - service_s, self._from_s)
        end = now if self._until_s is None else self._until_s
        if end > begin:
            self._busy_s += end - begin

    def begin(self, now: float) -> None:
        """End the warm-up, or begin anew because it had not ended yet."""
        if self._until_s is None:
            self._offered_s = self._busy_s = 0.0
            self._since_s = self._from_s = now

    def end(self, now: float) -> None:
        """Stop measuring: there is no more input, so that workers run idle."""
        if self._until_s is None and self._from_s is not None:
            self._advance(now)
            self._until_s = now

    def _advance(self, now: float) -> None:
        if self._from_s is not None and self._until_s is None:
            self._offered_s += self._offering * (now - self._since_s)
        self._since_s = now
