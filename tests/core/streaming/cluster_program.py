"""Run as a program by test_streaming_cluster.py: a cluster of several nodes needs a process of its own."""

import json
import sys
import time

from ray.cluster_utils import Cluster

from curator_core import Pipeline, ProcessingStage, Resources, StreamingExecutor, Task
from curator_core.run import RunState, stream_plan


class Where(ProcessingStage[Task, Task]):
    """Notes the node it runs on."""

    fuse = False

    def __init__(self, seconds: float = 0.01, size: int = 0) -> None:
        self.seconds = seconds
        self.size = size

    def setup(self, worker):
        self.node = worker.node_id

    def process(self, task):
        time.sleep(self.seconds)
        number, nodes, _ = task.data
        return task.with_data((number, [*nodes, self.node], bytes(self.size)))


def tasks(count):
    return [Task(data=(n, [], b"")) for n in range(count)]


def run(cluster, stages, count, *, at=0, action=None):
    """Run stages over numbered tasks; do something when so many outputs have come out."""
    state = RunState()
    executor = StreamingExecutor(address=cluster.address)
    outputs = []
    stream = stream_plan(Pipeline("p", stages=stages).build(), executor, state=state, initial_tasks=tasks(count))
    for task in stream:
        outputs.append(task)
        if action is not None and len(outputs) >= at:
            action()
            action = None
    return {
        "numbers": [task.data[0] for task in executor.in_order(outputs)],
        "nodes": [task.data[1] for task in outputs],
        "quarantined": state.quarantined_count,
    }


def mixed(cluster):
    """GPU nodes and CPU nodes: each stage runs where its resources are."""
    gpu_node = cluster.add_node(num_cpus=1, num_gpus=2)
    cluster.wait_for_nodes()
    stages = [
        Where().with_(name="cpu"),
        Where().with_(name="gpu", resources=Resources(cpus=0, gpus=0.5)),
        Where().with_(name="last"),
    ]
    return {**run(cluster, stages, 200), "gpu_node": gpu_node.node_id}


def leaving(cluster):
    """A node dies during the run, with workers and with the only copies of large outputs."""
    node = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    stages = [
        Where(0.02, size=300_000).with_(name="first"),
        Where(0.02, size=300_000).with_(name="second"),
        Where(0.02).with_(name="third"),
    ]
    found = run(cluster, stages, 400, at=100, action=lambda: cluster.remove_node(node, allow_graceful=False))
    return {**found, "gone": node.node_id}


def joining(cluster):
    """A node joins during the run and gets work."""
    joined = []
    stages = [Where(0.05).with_(name="only")]
    found = run(cluster, stages, 500, at=20, action=lambda: joined.append(cluster.add_node(num_cpus=2)))
    return {**found, "joined": joined[0].node_id}


def main():
    case = {"mixed": mixed, "leaving": leaving, "joining": joining}[sys.argv[1]]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        found = case(cluster)
    finally:
        cluster.shutdown()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
