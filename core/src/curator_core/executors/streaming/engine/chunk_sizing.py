"""How many tasks go into one call: enough that a call is long against what it costs, growing fast from one."""

from __future__ import annotations

import math

__all__ = ["LONGEST_CALL_S", "TARGET_CALL_S", "ChunkSizer", "call_target_s", "calls_in_flight", "least_behind"]

TARGET_CALL_S = 0.01
"""Default duration of a call, also used for the first calls."""
LONGEST_CALL_S = 0.5
"""A call that takes longer, because its tasks have become slow, leaves the rest of them to others."""
_LONG_TARGET_S = 0.42
_TARGET_SHARE = 0.1  # of the time so far
_MOST_TASKS = 16_384
_MOST_BYTES = 16 << 20
_PREFETCH_BELOW_S = 0.5
_MOST_GROWTH = 16
_SHORT_CALL_S = 0.01
_LEAST_CALL_S = 0.015
_LEAST_AT_END_S = 0.002
_LONG_CALL_S = 0.1
_LEAST_BEHIND = 0.75  # of a full call


class ChunkSizer:
    """The size of a step's next call.

    Starting from one keeps the first calls short whatever they turn out to cost; growing by what they did cost reaches
    thousands of tasks within a few calls. A call that turns out longer gives back what it has not begun.

    Args:
        batch_size: How many tasks the step wants at once; sizes are multiples of it.
    """

    def __init__(self, batch_size: int = 1) -> None:
        self._batch = max(1, batch_size)
        self._ramp = self._batch
        self.most_bytes: float = _MOST_BYTES
        """Most bytes in a call."""

    def size(self, *, service_s: float | None, task_bytes: float, target_s: float = TARGET_CALL_S) -> int:
        """Return the number of tasks for the next call, which should last ``target_s``."""
        tasks = self._ramp
        if service_s is not None and service_s > 0:
            tasks = int(min(tasks, target_s / service_s))
        if task_bytes > 0:
            tasks = int(min(tasks, self.most_bytes / task_bytes))
        return max(1, tasks // self._batch) * self._batch

    def least(self, *, service_s: float | None, are_the_last: bool = False) -> int:
        """Return the number of tasks below which a call costs more than it does.

        Args:
            service_s: Seconds per task, if known.
            are_the_last: No more tasks will come. Then steps further down wait for these, and short calls are worth it.
        """
        if not service_s:
            return self._ramp
        return int(min(self._ramp, max(1.0, (_LEAST_AT_END_S if are_the_last else _LEAST_CALL_S) / service_s)))

    def learned(self, *, tasks: int, service_s: float, target_s: float = TARGET_CALL_S) -> bool:
        """Grow after a call of full size that was short; return whether it has."""
        if tasks < self._ramp or service_s >= target_s:
            return False
        growth = min(_MOST_GROWTH, max(2, int(target_s / service_s))) if service_s > 0 else _MOST_GROWTH
        self._ramp = min(growth * self._ramp, max(_MOST_TASKS, self._batch))
        return True


def call_target_s(elapsed_s: float) -> float:
    """Return how long a call should last, given the time since the first call came back.

    Every call costs a worker about two milliseconds. Long calls hide that, but fill and drain the line of steps
    slowly: the longer a run has lasted, and so is going to last, the less that matters.
    """
    return min(_LONG_TARGET_S, max(TARGET_CALL_S, _TARGET_SHARE * elapsed_s))


def least_behind(size: int, least: int, call_s: float | None) -> int:
    """Return how many tasks a call must have to be sent behind one that still runs, while more are to come.

    Where stages are equally fast, tasks trickle in. Sent at once, they would make small calls, of which each costs a
    worker about two milliseconds; while a long call runs there is time to wait for more of them.
    """
    if call_s is None or call_s < _LONG_CALL_S:
        return least
    return max(least, math.ceil(_LEAST_BEHIND * size))


def calls_in_flight(call_s: float | None) -> int:
    """Return how many calls a worker has at a time, one of them running.

    Waiting for the next call costs a worker a millisecond or two: nothing to a long call, a fifth of a short one.
    """
    if call_s is None:
        return 2
    if call_s >= _PREFETCH_BELOW_S:
        return 1
    return 2 if call_s >= _SHORT_CALL_S else 4
