"""A cluster of several nodes, played by several raylets on this machine."""

import os
import subprocess
import sys

TWO_NODES = """
import warnings

warnings.simplefilter("ignore")
from ray.cluster_utils import Cluster

from curator_core import ActorPoolExecutor, Pipeline, ProcessingStage, Resources, Task
from curator_core.values.errors import PipelineError
from curator_core.executors.ray.cluster import connect
from curator_core.executors.ray.internals import only_needed_processes


class Where(ProcessingStage[Task, Task]):
    def setup(self, worker):
        self.node_id = worker.node_id

    def process(self, task):
        return task.with_data(self.node_id)


with only_needed_processes():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=2, resources={"nvme": 1})
try:
    with connect(address=cluster.address) as info:
        head, other = info.nodes
        assert head.is_head and not other.is_head and not info.owns, info
        assert (head.cpus, other.cpus, other.custom) == (1, 2, {"nvme": 1}), info
        tasks = [Task(data=n) for n in range(30)]
        for stage, executor in [
            (Where(), ActorPoolExecutor(ignore_head_node=True)),
            (Where().with_(resources=Resources(custom={"nvme": 1})), ActorPoolExecutor()),
        ]:
            result = Pipeline("p", stages=[stage]).run(executor, initial_tasks=tasks)
            assert {task.data for task in result} == {other.node_id}, result
        try:
            Pipeline("p", stages=[Where().with_(resources=Resources(cpus=3))]).run(ActorPoolExecutor())
        except PipelineError as error:
            print(error.message)
finally:
    cluster.shutdown()
"""


def test_workers_go_where_they_may_and_fit():
    done = subprocess.run(
        [sys.executable, "-c", TWO_NODES],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_ADDRESS": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "stage 'Where' needs cpus=3 for a worker, more than any node has" in done.stdout
