"""cosmos-xenna: the engine behind NeMo Curator's default executor."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import ray
from cosmos_xenna.pipelines import v1 as xenna  # type: ignore[import-not-found]

from engine_comparison.leftovers import MARK, stop_leftovers
from engine_comparison.measures import Outcome
from engine_comparison.program import serve
from engine_comparison.ray_session import slots_of, start_ray
from engine_comparison.store_peak import store_peak
from engine_comparison.workload import source_item

if TYPE_CHECKING:
    from engine_comparison.cases import Case
    from engine_comparison.workload import Item, Workload

_TUNED_S = 2.0


class Stage(xenna.Stage):  # type: ignore[misc]
    """A stage over lists of tasks."""

    def __init__(self, workload: Workload, stage: int) -> None:
        self.workload = workload
        self.stage = stage

    @property
    def required_resources(self) -> xenna.Resources:
        return xenna.Resources(cpus=1.0)

    def setup(self, worker_metadata: Any) -> None:
        del worker_metadata
        self.workload.start_worker(self.stage)

    def process_data(self, in_data: list[Item]) -> list[Item]:
        return [self.workload.step(self.stage, item) for item in in_data]


def run(case: Case, engine: str) -> Outcome:
    slots = slots_of(case.slots, stages=len(case.workload.service_ms))
    start_ray(slots, include_dashboard=True)
    # It looks for "the" Ray of this machine, and finds several where others run.
    os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
    streaming = xenna.StreamingSpecificSpec()
    if engine == "xenna_tuned":
        streaming = xenna.StreamingSpecificSpec(
            autoscale_interval_s=_TUNED_S, autoscale_speed_estimation_window_duration_s=5 * _TUNED_S
        )
    try:
        return _run(case, streaming)
    finally:
        # Its workers and monitors stay alive, and busy, after a run and even after their Ray.
        ray.shutdown()
        stop_leftovers(os.environ.get(MARK, ""))


def _run(case: Case, streaming: Any) -> Outcome:
    with store_peak() as figures:
        begun = time.time()
        items = xenna.run_pipeline(
            xenna.PipelineSpec(
                input_data=[source_item(index) for index in range(case.workload.tasks)],
                stages=[Stage(case.workload, stage) for stage in range(case.workload.last + 1)],
                # All slots, as the other engines have: by default it leaves 5 % of the CPUs, so one slot, unused.
                config=xenna.PipelineConfig(
                    return_last_stage_outputs=True, cpu_allocation_percentage=1.0, mode_specific=streaming
                ),
            )
        )
        ended = time.time()
    return Outcome(list(items or []), begun, ended, figures=figures)


if __name__ == "__main__":
    serve(run)
