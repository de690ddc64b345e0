"""Figures of a run as Ray metrics, for the Ray dashboard, Prometheus and Grafana.

Ray puts ``ray_`` before the names: ``curator_stage_queued`` is ``ray_curator_stage_queued`` in Prometheus. Every metric
has the tags ``pipeline`` and ``stage``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.executors.streaming.observe.samples import StageSample

__all__ = ["COUNTERS", "GAUGES", "Metric", "StageMetrics"]

_TAGS = ("pipeline", "stage")


@dataclass(frozen=True)
class Metric:
    """A metric of a stage; ``value`` reads it off a sample, of a counter the growth since the sample before."""

    name: str
    description: str
    value: Callable[[StageSample], float]


def _growth(of: str) -> Callable[[StageSample], float]:
    return lambda sample: float(getattr(sample.counts, of) - getattr(sample.before, of))


GAUGES = (
    Metric("curator_stage_queued", "Tasks that wait in front of the stage.", lambda each: each.live.queued),
    Metric("curator_stage_running", "Tasks in the hands of the stage's workers.", lambda each: each.live.running),
    Metric("curator_stage_workers", "Workers that are ready.", lambda each: each.live.workers),
    Metric(
        "curator_stage_busy_ratio",
        "Fraction of the workers that have work in hand.",
        lambda each: each.live.busy_fraction,
    ),
    Metric("curator_stage_is_bottleneck", "1 for the stage that sets the pace.", lambda each: each.live.is_bottleneck),
)
COUNTERS = (
    Metric("curator_stage_tasks_total", "Tasks processed.", _growth("tasks_in")),
    Metric("curator_stage_tasks_out_total", "Tasks made.", _growth("tasks_out")),
    Metric("curator_stage_rows_total", "Rows processed.", _growth("rows_in")),
    Metric("curator_stage_rows_out_total", "Rows made.", _growth("rows_out")),
    Metric("curator_stage_rows_dropped_total", "Rows dropped by a filter.", _growth("rows_dropped")),
    Metric("curator_stage_bytes_out_total", "Bytes of the tasks made.", _growth("bytes_out")),
    Metric("curator_stage_failures_total", "Calls that failed.", _growth("failures")),
    Metric("curator_stage_quarantined_total", "Tasks and records set aside.", _growth("quarantined")),
)


class StageMetrics:
    """The metrics of one run. Makes nothing, and does nothing, while Ray is not running."""

    def __init__(self, pipeline: str) -> None:
        self._pipeline = pipeline
        self._gauges: list[tuple[Metric, Any]] = []
        self._counters: list[tuple[Metric, Any]] = []
        if not import_ray().is_initialized():
            return
        from ray.util.metrics import Counter, Gauge

        self._gauges = [(each, Gauge(each.name, each.description, tag_keys=_TAGS)) for each in GAUGES]
        self._counters = [(each, Counter(each.name, each.description, tag_keys=_TAGS)) for each in COUNTERS]

    def update(self, samples: Sequence[StageSample]) -> None:
        """Publish samples of the stages."""
        for sample in samples:
            tags = {"pipeline": self._pipeline, "stage": sample.stage}
            for metric, gauge in self._gauges:
                gauge.set(float(metric.value(sample)), tags=tags)
            for metric, counter in self._counters:
                growth = metric.value(sample)
                if growth > 0:
                    counter.inc(growth, tags=tags)

    def clear(self, stages: Sequence[str]) -> None:
        """Set the gauges to zero: a run that is over queues nothing and has no workers."""
        for stage in stages:
            for _, gauge in self._gauges:
                gauge.set(0.0, tags={"pipeline": self._pipeline, "stage": stage})
