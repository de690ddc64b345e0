"""A limit on how much may happen per minute: decisions on a clock that the caller reads."""

from __future__ import annotations

import threading

__all__ = ["RateLimit"]


class RateLimit:
    """Limits a rate per minute, evenly; an unused allowance expires after some seconds.

    >>> limit = RateLimit(60, burst_s=1)
    >>> [limit.reserve(1, now_s=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]

    Args:
        per_minute: How much per minute.
        burst_s: Seconds whose allowance may be used at once.
    """

    def __init__(self, per_minute: float, *, burst_s: float = 5.0) -> None:
        self._per_s = per_minute / 60.0
        self._burst_s = burst_s
        self._free_at_s: float | None = None  # when all that was let through is paid for
        self._lock = threading.Lock()

    def reserve(self, amount: float, *, now_s: float) -> float:
        """Take an amount; return how many seconds to wait before using it."""
        with self._lock:
            earliest = now_s - self._burst_s
            begin = earliest if self._free_at_s is None else max(self._free_at_s, earliest)
            self._free_at_s = begin + amount / self._per_s
            return max(0.0, begin - now_s)

    def give_back(self, amount: float) -> None:
        """Return an unused amount, or take more where it is negative."""
        with self._lock:
            if self._free_at_s is not None:
                self._free_at_s -= amount / self._per_s
