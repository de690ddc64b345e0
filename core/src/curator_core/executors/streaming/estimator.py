"""How long a step takes per task, and how many tasks it makes of one: robust, and quick to notice a change."""

from __future__ import annotations

from collections import deque
from statistics import median

__all__ = ["StepEstimator"]

_WEIGHT = 0.08  # of a task
_MOST_WEIGHT = 0.2  # of a call
_WINDOW = 5
_SHORT_WINDOW = 3  # for calls of several tasks
_CHANGE = 1.3


class StepEstimator:
    """Moving estimates of one step.

    Service time is an exponentially weighted mean, so that rare slow tasks count for what they cost. When the last few
    calls agree with each other but not with the mean, the speed has changed and the past is dropped.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.tasks_in = 0
        self.tasks_out = 0
        self._mean_s: float | None = None
        self._recent: deque[float] = deque(maxlen=_WINDOW)
        self._inputs = 0.0
        self._outputs = 0.0
        self._bytes = 0.0

    @property
    def service_s(self) -> float | None:
        """Seconds per task, or None before the first completion."""
        return self._mean_s

    @property
    def fan_out(self) -> float:
        """Outputs per input, lately; one before anything is known."""
        return self._outputs / self._inputs if self._inputs else 1.0

    @property
    def output_bytes(self) -> float:
        """Average size of an output."""
        return self._bytes / self._outputs if self._outputs else 0.0

    @property
    def bytes_per_task(self) -> float:
        """Average size of all outputs of an input."""
        return self._bytes / self._inputs if self._inputs and self._outputs else 0.0

    def add(self, *, tasks: int, outputs: int, size_bytes: int, service_s: float) -> None:
        """Learn from a call, or a part of one."""
        keep = 1.0 - _WEIGHT / 2
        self._inputs = self._inputs * keep + tasks
        self._outputs = self._outputs * keep + outputs
        self._bytes = self._bytes * keep + size_bytes
        self.tasks_in += tasks
        self.tasks_out += outputs
        if tasks <= 0:
            return
        self.calls += 1
        sample = service_s / tasks
        self._recent.append(sample)
        if self._mean_s is None:
            self._mean_s = sample
        elif self._has_changed(sample, tasks):
            self._mean_s = median(self._recent)
        else:
            # The first calls count alike, so that one slow start does not linger.
            weight = max(min(_MOST_WEIGHT, _WEIGHT * tasks), 1.0 / self.calls)
            self._mean_s += weight * (sample - self._mean_s)

    def _has_changed(self, sample: float, tasks: int) -> bool:
        """Return whether the last few calls agree with each other but not with the mean; calls of one task need more."""
        mean_s = self._mean_s
        assert mean_s is not None
        if mean_s / _CHANGE <= sample <= mean_s * _CHANGE:
            return False
        while len(self._recent) > (_WINDOW if tasks == 1 else _SHORT_WINDOW):
            self._recent.popleft()
        low, high = min(self._recent), max(self._recent)
        is_off = low > mean_s * _CHANGE or high * _CHANGE < mean_s
        return is_off and len(self._recent) >= (_WINDOW if tasks == 1 else _SHORT_WINDOW) and high < low * _CHANGE

    def with_running(self, ages_s: list[float]) -> float | None:
        """Return seconds per task when calls that are still running count with their age.

        A step that has become slow shows it first by calls that do not come back.
        """
        if not ages_s:
            return self._mean_s
        middle = median(ages_s)
        if self._mean_s is None:
            return middle
        return max(self._mean_s, middle)
