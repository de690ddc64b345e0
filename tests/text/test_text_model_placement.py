"""Model workers share GPUs by fractions: four of 0.25 on each."""

import time
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from curator_core import Pipeline, Resources, StreamingExecutor
from curator_core.planner import decompose
from curator_core.stage import ProcessingStage
from curator_core.tasks import TableBatch
from curator_text import DocumentBatch, Embed


@dataclass
class WhereItRan(ProcessingStage[TableBatch, TableBatch]):
    """Stands in for a model, which sixteen processes would take minutes to load, and notes the worker and its GPU."""

    name = "text.embed"

    def process(self, task):
        import os

        import ray

        time.sleep(0.2)  # so that there is work for all workers
        (gpu,) = ray.get_gpu_ids()
        return task.with_column("gpu", [str(gpu)]).with_column("process", [os.getpid()])


def test_four_model_workers_run_on_each_gpu(ray_session):
    tokenize, embed = decompose(Embed("any/model").with_(resources=Resources(cpus=0.1, gpus=0.25), workers=16))
    assert tokenize.resources.gpus == 0
    model = WhereItRan().with_(**embed.overrides)
    batches = [DocumentBatch(data={"text": pa.array([f"text {n}"], pa.string())}) for n in range(96)]
    result = Pipeline(stages=[model]).run(StreamingExecutor(), initial_tasks=batches)
    assert sum(task.num_rows for task in result) == 96
    ran = {(task.data["gpu"][0].as_py(), task.data["process"][0].as_py()) for task in result}
    assert Counter(gpu for gpu, _ in ran) == {"0": 4, "1": 4, "2": 4, "3": 4}
