"""How many tasks go into one call: enough that a call is long against what it costs, growing fast from one."""

from __future__ import annotations

import math

from curator_core.executors.streaming.engine.tuning import Tuning

__all__ = ["ChunkSizer", "call_target_s", "calls_in_flight", "min_behind"]


class ChunkSizer:
    """The size of a step's next call.

    Starting from one keeps the first calls short whatever they turn out to cost; growing by what they did cost reaches
    thousands of tasks within a few calls. A call that turns out longer gives back what it has not begun.

    Args:
        batch_size: How many tasks the step wants at once; sizes are multiples of it.
        tuning: Durations and bounds of calls.
        max_tasks: Most tasks in a call, if limited otherwise.
    """

    def __init__(self, batch_size: int = 1, tuning: Tuning = Tuning(), *, max_tasks: int | None = None) -> None:
        self._batch = max(1, batch_size)
        self._ramp = self._batch
        self._tuning = tuning
        self._max_tasks = min(tuning.max_call_tasks, max_tasks or tuning.max_call_tasks)
        self.max_bytes: float = tuning.max_call_bytes
        """Most bytes in a call."""

    def size(self, *, service_s: float | None, task_bytes: float, target_s: float | None = None) -> int:
        """Return the number of tasks for the next call, which should last ``target_s``."""
        target_s = target_s or self._tuning.call_target_s
        tasks = self._ramp
        if service_s is not None and service_s > 0:
            tasks = int(min(tasks, target_s / service_s))
        if task_bytes > 0:
            tasks = int(min(tasks, self.max_bytes / task_bytes))
        return max(1, tasks // self._batch) * self._batch

    def min_size(self, *, service_s: float | None, are_the_last: bool = False) -> int:
        """Return the number of tasks below which a call costs more than it does.

        Args:
            service_s: Seconds per task, if known.
            are_the_last: No more tasks will come. Then steps further down wait for these, and short calls are worth it.
        """
        if not service_s:
            return self._ramp
        min_s = self._tuning.min_call_at_end_s if are_the_last else self._tuning.min_call_s
        return int(min(self._ramp, max(1.0, min_s / service_s)))

    def learned(self, *, tasks: int, service_s: float, target_s: float | None = None) -> bool:
        """Grow after a call of full size that was short; return whether it has."""
        target_s = target_s or self._tuning.call_target_s
        if tasks < self._ramp or service_s >= target_s:
            return False
        growth = self._tuning.max_call_growth
        if service_s > 0:
            growth = min(growth, max(2, int(target_s / service_s)))
        self._ramp = min(growth * self._ramp, max(self._max_tasks, self._batch))
        return True


def call_target_s(elapsed_s: float, tuning: Tuning) -> float:
    """Return how long a call should last, given the time since the first call came back.

    Every call costs a worker about two milliseconds. Long calls hide that, but fill and drain the line of steps
    slowly: the longer a run has lasted, and so is going to last, the less that matters.
    """
    return min(tuning.long_call_target_s, max(tuning.call_target_s, tuning.call_target_fraction * elapsed_s))


def min_behind(size: int, min_size: int, call_s: float | None, tuning: Tuning) -> int:
    """Return how many tasks a call must have to be sent behind one that still runs, while more are to come.

    Where stages are equally fast, tasks trickle in. Sent at once, they would make small calls, of which each costs a
    worker about two milliseconds; while a long call runs there is time to wait for more of them.
    """
    if call_s is None or call_s < tuning.long_call_s:
        return min_size
    return max(min_size, math.ceil(tuning.min_prefetched_fraction * size))


def calls_in_flight(call_s: float | None, tuning: Tuning) -> int:
    """Return how many calls a worker has at a time, one of them running.

    Waiting for the next call costs a worker a millisecond or two: nothing to a long call, a fifth of a short one.
    """
    if call_s is None:
        return 2
    if call_s >= tuning.prefetch_limit_s:
        return 1
    return 2 if call_s >= tuning.short_call_s else 4
