"""How long a step takes per task, and how many tasks it makes of one: robust, and quick to notice a change."""

from __future__ import annotations

from collections import deque
from statistics import median

from curator_core.executors.streaming.engine.tuning import Tuning

__all__ = ["StepEstimator"]


class StepEstimator:
    """Moving estimates of one step.

    Service time is an exponentially weighted mean, so that rare slow tasks count for what they cost. When the last few
    calls agree with each other but not with the mean, the speed has changed and the past is dropped.
    """

    def __init__(self, tuning: Tuning = Tuning()) -> None:
        self._tuning = tuning
        self.calls = 0
        self.tasks_in = 0
        self.service_s: float | None = None
        """Seconds per task, or None before the first completion."""
        self.fan_out = 1.0
        """Outputs per input, lately; one before anything is known."""
        self.bytes_per_task = 0.0
        """Average size of all outputs of an input."""
        self._recent: deque[float] = deque(maxlen=tuning.change_window)
        self._inputs = 0.0
        self._outputs = 0.0
        self._bytes = 0.0

    def add(self, *, tasks: int, outputs: int, size_bytes: int, service_s: float) -> None:
        """Learn from a call, or a part of one."""
        tuning = self._tuning
        self._inputs = self._inputs * tuning.output_memory + tasks
        self._outputs = self._outputs * tuning.output_memory + outputs
        self._bytes = self._bytes * tuning.output_memory + size_bytes
        self.tasks_in += tasks
        if self._inputs:
            self.fan_out = self._outputs / self._inputs
            self.bytes_per_task = self._bytes / self._inputs
        if tasks <= 0:
            return
        self.calls += 1
        sample = service_s / tasks
        self._recent.append(sample)
        if self.service_s is None:
            self.service_s = sample
        elif self._has_changed(sample, self.service_s, tasks):
            self.service_s = median(self._recent)
        else:
            # The first tasks count alike, so that neither a slow start nor calls of one task, which are mostly what a
            # call costs, linger.
            weight = max(min(tuning.max_call_weight, tuning.task_weight * tasks), tasks / self.tasks_in)
            self.service_s += weight * (sample - self.service_s)

    def _has_changed(self, sample: float, mean_s: float, tasks: int) -> bool:
        """Return whether the last few calls agree with each other but not with the mean.

        More of them are needed when they have one task each.
        """
        change = self._tuning.change_factor
        if mean_s / change <= sample <= mean_s * change:
            return False
        window = self._tuning.change_window if tasks == 1 else self._tuning.change_window_of_several
        if len(self._recent) < window:
            return False
        while len(self._recent) > window:
            self._recent.popleft()
        low, high = min(self._recent), max(self._recent)
        is_off = low > mean_s * change or high * change < mean_s
        return is_off and high < low * change

    def with_running(self, ages_s: list[float]) -> float | None:
        """Return seconds per task when calls that are still running count with their age.

        A step that has become slow shows it first by calls that do not come back.
        """
        if not ages_s:
            return self.service_s
        middle = median(ages_s)
        return middle if self.service_s is None else max(self.service_s, middle)
