"""Ray Data: one row per block, as systems built on it send their tasks, or blocks as it cuts them by itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import ray
import ray.data

from engine_comparison.measures import Outcome
from engine_comparison.program import serve
from engine_comparison.ray_session import slots_of, start_ray
from engine_comparison.store_peak import store_peak
from engine_comparison.workload import new_payload

if TYPE_CHECKING:
    from engine_comparison.cases import Case
    from engine_comparison.workload import Workload

Columns = dict[str, Any]


class Stage:
    """A stage over columns; the payload is a column of arrays, which Ray Data shares without copying."""

    def __init__(self, workload: Workload, stage: int) -> None:
        self.workload = workload
        self.stage = stage
        workload.start_worker(stage)

    def __call__(self, batch: Columns) -> Columns:
        columns = dict(batch)
        if self.stage == 0:
            columns["started"] = np.full(len(batch["index"]), time.time())
            if self.workload.payload_bytes:
                columns["payload"] = np.stack([self._payload(index) for index in batch["index"]])
        for index in batch["index"]:
            self.workload.act(self.stage, int(index))
        if self.stage == self.workload.last:
            columns.pop("payload", None)
            columns["finished"] = np.full(len(batch["index"]), time.time())
        return columns

    def _payload(self, index: int) -> Any:
        return new_payload(self.workload.payload_bytes, int(index))


def run(case: Case, engine: str) -> Outcome:
    slots = slots_of(case.slots, stages=len(case.workload.service_ms))
    start_ray(slots, is_fresh=case.family == "e")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    is_auto = engine == "ray_data_auto"
    tasks = case.workload.tasks
    with store_peak() as figures:
        begun = time.time()
        rows = [{"index": index} for index in range(tasks)]
        data: ray.data.Dataset = (
            ray.data.from_items(rows) if is_auto else ray.data.from_items(rows, override_num_blocks=tasks)
        )
        for stage in range(case.workload.last + 1):
            data = data.map_batches(
                Stage,
                fn_constructor_kwargs={"workload": case.workload, "stage": stage},
                batch_size=None if is_auto else 1,
                batch_format="numpy",
                num_cpus=1,
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=slots),
            )
        items = [(int(row["index"]), float(row["started"]), float(row["finished"]), None) for row in data.iter_rows()]
        ended = time.time()
    return Outcome(items, begun, ended, figures=figures)


if __name__ == "__main__":
    serve(run)
