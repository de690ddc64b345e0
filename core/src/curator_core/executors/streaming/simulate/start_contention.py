"""How long workers take to start in a simulation when those of a node slow each other down."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["StartingNode"]

_SLACK = 1e-9


class StartingNode:
    """The workers that are starting on one node. They share its cores equally.

    Args:
        cores: So many workers can start at full speed at a time.
        set_alarm: Has :meth:`ring` called after some seconds, with a number.
    """

    def __init__(self, cores: float, set_alarm: Callable[[float, int], None]) -> None:
        self._cores = cores
        self._set_alarm = set_alarm
        self._alarm = 0
        self._at_s = 0.0
        self._progress_s = 0.0  # of a worker that has been starting all the time
        self._ends: list[tuple[float, int]] = []

    def start(self, worker_id: int, boot_s: float, now: float) -> None:
        """Start a worker that takes ``boot_s`` of a core's time."""
        self._advance(now)
        heapq.heappush(self._ends, (self._progress_s + boot_s, worker_id))
        self._await_next()

    def ring(self, alarm: int, now: float) -> list[int]:
        """Return the workers that are ready now; an alarm set before the last change is out of date."""
        if alarm != self._alarm:
            return []
        self._advance(now)
        ready = []
        while self._ends and self._ends[0][0] <= self._progress_s + _SLACK:
            ready.append(heapq.heappop(self._ends)[1])
        self._await_next()
        return ready

    @property
    def _speed(self) -> float:
        return min(1.0, self._cores / len(self._ends)) if self._ends else 1.0

    def _advance(self, now: float) -> None:
        self._progress_s += (now - self._at_s) * self._speed
        self._at_s = now

    def _await_next(self) -> None:
        self._alarm += 1
        if self._ends:
            self._set_alarm(max(0.0, self._ends[0][0] - self._progress_s) / self._speed, self._alarm)
