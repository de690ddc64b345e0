"""Run as a program by test_streaming_cluster.py: a cluster of several nodes needs a process of its own.

Usage: python cluster_program.py mixed | joining | sharing | changing TASKS SEED    prints what came out as JSON.
"""

import json
import random
import sys
import time

import ray
from ray._private.state import available_resources_per_node
from ray.cluster_utils import Cluster

from curator_core import Pipeline, ProcessingStage, Resources, StreamingExecutor, Task
from curator_core.run import RunState, stream_plan

LONGEST_S = 120


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


class Source:
    """So many tasks, and more until it is enough or has taken too long."""

    def __init__(self, least, is_enough=lambda: True):
        self.least = least
        self.is_enough = is_enough
        self.given = 0

    def __iter__(self):
        late_s = time.monotonic() + LONGEST_S
        while self.given < self.least or not (self.is_enough() or time.monotonic() > late_s):
            self.given += 1
            yield Task(data=(self.given - 1, [], b""))


def run(cluster, stages, source, *, actions=None, seen=None):
    """Run stages over numbered tasks; do things when so many outputs have come out, and note who made them in a set."""
    seen = set() if seen is None else seen
    waiting = sorted((actions or {}).items())
    state = RunState()
    executor = StreamingExecutor(address=cluster.address)
    outputs = []
    stream = stream_plan(Pipeline("p", stages=stages).build(), executor, state=state, initial_tasks=source)
    for task in stream:
        outputs.append(task)
        seen.update(task.data[1])
        if waiting and len(outputs) >= waiting[0][0]:
            waiting.pop(0)[1]()
    return {
        "numbers": [task.data[0] for task in executor.in_order(outputs)],
        "nodes": [task.data[1] for task in outputs],
        "quarantined": state.quarantined_count,
        "given": source.given,
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
    return {**run(cluster, stages, Source(200)), "gpu_node": gpu_node.node_id}


def changing(cluster, count, seed):
    """Two of three nodes die during the run, with workers and the only copies of large outputs; then a fourth joins.

    There is work until that one has done some.
    """
    count, chance = int(count), random.Random(int(seed))
    nodes = [cluster.add_node(num_cpus=2) for _ in range(2)]
    cluster.wait_for_nodes()
    chance.shuffle(nodes)
    stages = [
        Where(0.02, size=300_000).with_(name="first"),
        Where(0.02, size=300_000).with_(name="second"),
        Where(0.02).with_(name="third"),
    ]
    joined, seen = [], set()
    source = Source(count, is_enough=lambda: bool(joined) and joined[0].node_id in seen)
    moments = [int(count * (share + chance.uniform(-0.05, 0.05))) for share in (0.15, 0.35, 0.5)]
    actions = {
        moments[0]: lambda: cluster.remove_node(nodes[0], allow_graceful=False),
        moments[1]: lambda: cluster.remove_node(nodes[1], allow_graceful=False),
        moments[2]: lambda: joined.append(cluster.add_node(num_cpus=2)),
    }
    found = run(cluster, stages, source, actions=actions, seen=seen)
    return {**found, "gone": [node.node_id for node in nodes], "joined": joined[0].node_id, "moments": moments}


def joining(cluster):
    """A node joins during the run, and its CPUs are the run's."""
    joined, free, seen = [], [], set()
    source = Source(500, is_enough=lambda: bool(joined) and joined[0].node_id in seen)
    actions = {
        20: lambda: joined.append(cluster.add_node(num_cpus=2)),
        480: lambda: free.append(available_resources_per_node()[joined[0].node_id].get("CPU", 0.0)),
    }
    found = run(cluster, [Where(0.05).with_(name="only")], source, actions=actions, seen=seen)
    return {**found, "joined": joined[0].node_id, "free_cpus": free}


def sharing(cluster):
    """Another job holds one of two GPUs, so that two stages have to take turns on the other."""
    gpu_node = cluster.add_node(num_cpus=1, num_gpus=2)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False)
    other = ray.remote(num_gpus=1)(Other).remote()
    ray.get(other.is_there.remote())
    stages = [Where().with_(name=name, resources=Resources(cpus=0, gpus=1)) for name in ("first", "second")]
    found = run(cluster, stages, Source(20))
    ray.shutdown()  # before the cluster's nodes are removed
    return {**found, "gpu_node": gpu_node.node_id}


class Other:
    """An actor of another job."""

    def is_there(self):
        return True


def main(case, *arguments):
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        cases = {"mixed": mixed, "changing": changing, "joining": joining, "sharing": sharing}
        found = cases[case](cluster, *arguments)
    finally:
        cluster.shutdown()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
