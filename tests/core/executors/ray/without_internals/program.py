"""Runs pipelines on a Ray that has none of the private parts that curator uses; prints what came of them as JSON."""

import json
import os
import sys
from pathlib import Path

import ray
from ray.job_config import JobConfig

from curator_core import (
    Pipeline,
    ProcessingStage,
    RayDataExecutor,
    Resources,
    StreamingExecutor,
    Task,
)
from curator_core.executors.ray.cluster import connect
from curator_core.executors.ray.notes import keep_notes
from curator_core.executors.ray.own_session import FOLDER_VARIABLE
from curator_core.executors.ray.worker_setup import end_lease, hold_lease
from curator_core.files.atomic import atomic_output
from curator_core.values.errors import OutputError


def hide_the_rest():
    """Hide what belongs to objects of Ray, in this process."""
    init, nodes, serialize = ray.init, ray.nodes, JobConfig._serialize

    def init_without_folder(address=None, **options):
        if "_temp_dir" in options:
            raise RuntimeError("Unknown keyword argument(s): _temp_dir")
        return init(address, **options)

    def nodes_without_mark():
        found = nodes()
        for node in found:
            node["Resources"].pop("node:__internal_head__", None)
        return found

    def serialize_as_text(self, encoding="utf-8"):
        return serialize(self)

    ray.init, ray.nodes, JobConfig._serialize = init_without_folder, nodes_without_mark, serialize_as_text


class Double(ProcessingStage):
    def process(self, task):
        return task.with_data(task.data * 2)


class Kill(ProcessingStage):
    """Ends its worker on one task, which is then suspected alone."""

    def process(self, task):
        if task.data == 10:
            os._exit(1)
        return task


class Writer:
    """A worker that is given up for lost while it lives on."""

    def __init__(self, run_id, name):
        hold_lease(run_id, name)

    def write(self, path):
        try:
            with atomic_output(path) as file:
                file.write(b"written")
        except OutputError as error:
            return error.message
        return "written"


def leases(folder):
    with keep_notes("run-of-leases"):
        lost, other = (ray.remote(num_cpus=0)(Writer).remote("run-of-leases", name) for name in ("lost", "other"))
        answers = [ray.get(lost.write.remote(f"{folder}/first.txt"))]
        end_lease("run-of-leases", "lost")
        answers += ray.get([lost.write.remote(f"{folder}/late.txt"), other.write.remote(f"{folder}/other.txt")])
    answers.append(ray.get(other.write.remote(f"{folder}/after.txt")))
    return answers


def main(folder):
    hide_the_rest()
    # Memory is reserved, for which a run looks at what is free.
    stages = [stage.with_(resources=Resources(memory_gb=0.1)) for stage in (Double(), Kill())]
    executors = {  # actor_pool is the streaming executor with other options
        "streaming": StreamingExecutor(max_workers=1, max_attempts=2),
        "ray_data": RayDataExecutor(actors_per_stage=1),
    }
    found = {}
    with connect(cpus=2) as cluster:
        found["nodes"] = [(node.is_head, node.cpus) for node in cluster.nodes]
        found["folder_variable"] = os.environ.get(FOLDER_VARIABLE)
        for name, executor in executors.items():
            tasks = [Task(data=number) for number in range(20) if number != 5 or name == "streaming"]
            result = Pipeline("p", stages=stages).run(executor, initial_tasks=tasks)
            records = [(record.stage, record.task_id, record.error_type) for record in result.quarantined]
            found[name] = [task.data for task in result], records
        found["leases"] = leases(folder)
        found["files"] = sorted(path.name for path in Path(folder).glob("*.txt"))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
