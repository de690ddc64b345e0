"""Model workers share GPUs by fractions: two of 0.5 on each."""

import time
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from curator_core import Pipeline, Resources, StreamingExecutor
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import TableBatch
from curator_core.plan.planner import decompose
from curator_text import DocumentBatch, Embed

WORKERS = 8
PATIENCE_S = 120.0


@dataclass
class WhereItRan(ProcessingStage[TableBatch, TableBatch]):
    """Stands in for a model, which eight processes would take long to load, and notes the worker and its GPU.

    Every worker waits with its first task until all have one, however long they take to start.
    """

    folder: str
    name = "text.embed"

    def process(self, task):
        import os
        from pathlib import Path

        import ray

        (gpu,) = ray.get_gpu_ids()
        (Path(self.folder) / str(os.getpid())).touch()
        given_up_s = time.monotonic() + PATIENCE_S
        while len(os.listdir(self.folder)) < WORKERS and time.monotonic() < given_up_s:  # noqa: PTH208 - names suffice
            time.sleep(0.05)
        return task.with_column("gpu", [str(gpu)]).with_column("process", [os.getpid()])


def test_two_model_workers_run_on_each_gpu(ray_session, tmp_path):
    tokenize, embed = decompose(Embed("any/model").with_(resources=Resources(cpus=0.1, gpus=0.5), workers=WORKERS))
    assert tokenize.resources.gpus == 0
    model = WhereItRan(str(tmp_path)).with_(**embed.overrides)
    batches = [DocumentBatch(data={"text": pa.array([f"text {n}"], pa.string())}) for n in range(48)]
    result = Pipeline(stages=[model]).run(StreamingExecutor(), initial_tasks=batches)
    assert sum(task.num_rows for task in result) == 48
    ran = {(task.data["gpu"][0].as_py(), task.data["process"][0].as_py()) for task in result}
    assert Counter(gpu for gpu, _ in ran) == {"0": 2, "1": 2, "2": 2, "3": 2}
