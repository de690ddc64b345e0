"""Run as a program by test_streaming_cluster.py: a cluster of several nodes needs a process of its own.

Usage: python cluster_program.py mixed | leaving | leaving_idle | headless | changing TASKS SEED

Prints what came out as JSON.
"""

import json
import os
import random
import sys
import threading
import time
from contextlib import suppress

import ray
from ray._private.state import available_resources_per_node
from ray.cluster_utils import Cluster

from curator_core import Pipeline, ProcessingStage, Resources, StreamingExecutor, Task
from curator_core.executors.ray.internals import only_needed_processes
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState

LONGEST_S = 120
TRIES = 3
# A node that is gone refuses connections: it is given up after three. One that is busy has 30 seconds to answer.
os.environ |= {
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_worker_niceness": "0",
}


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
    """So many tasks, and more until it is enough or has taken too long; before some of them it waits for something."""

    def __init__(self, least, is_enough=lambda: True, waits=None):
        self.least = least
        self.is_enough = is_enough
        self.waits = waits or {}
        self.given = 0

    def __iter__(self):
        late_s = time.monotonic() + LONGEST_S
        while self.given < self.least or not (self.is_enough() or time.monotonic() > late_s):
            if self.given in self.waits:
                self.waits[self.given]()
            self.given += 1
            yield Task(data=(self.given - 1, [], b""))


def run(cluster, stages, source, *, actions=None, seen=None, on_output=lambda: None, **options):
    """Run stages over numbered tasks; do things when so many outputs have come out, and note who made them in a set.

    An action that returns False is tried again after the next output.
    """
    seen = set() if seen is None else seen
    waiting = sorted((actions or {}).items())
    state = RunState()
    executor = StreamingExecutor(address=cluster.address, **options)
    outputs = []
    stream = stream_plan(Pipeline("p", stages=stages).build(), executor, state=state, initial_tasks=source)
    for task in stream:
        outputs.append(task)
        seen.update(task.data[1])
        on_output()
        if waiting and len(outputs) >= waiting[0][0] and waiting[0][1]() is not False:
            waiting.pop(0)
    return {
        "numbers": [task.data[0] for task in state.in_order(outputs)],
        "nodes": [task.data[1] for task in outputs],
        "quarantined": state.quarantined_count,
        "given": source.given,
    }


def mixed(cluster):
    """GPU nodes and CPU nodes: each stage runs where its resources are.

    Then another job holds one of the two GPUs, so that two stages have to take turns on the other.
    """
    gpu_node = cluster.add_node(num_cpus=1, num_gpus=2)
    cluster.wait_for_nodes()
    stages = [
        Where().with_(name="cpu"),
        Where().with_(name="gpu", resources=Resources(cpus=0, gpus=0.5)),
        Where().with_(name="last"),
    ]
    alone = run(cluster, stages, Source(200))
    ray.init(address=cluster.address, log_to_driver=False)
    other = ray.remote(num_gpus=1)(Other).remote()
    ray.get(other.is_there.remote())
    stages = [Where().with_(name=name, resources=Resources(cpus=0, gpus=1)) for name in ("first", "second")]
    shared = run(cluster, stages, Source(20))
    ray.shutdown()  # before the cluster's nodes are removed
    return {"alone": alone, "shared": shared, "gpu_node": gpu_node.node_id}


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
    moments = [int(count * (fraction + chance.uniform(-0.05, 0.05))) for fraction in (0.15, 0.35, 0.5)]

    def remove(node):
        """Remove a node once it has had work."""
        return node.node_id in seen and cluster.remove_node(node, allow_graceful=False)

    actions = {
        moments[0]: lambda: remove(nodes[0]),
        moments[1]: lambda: remove(nodes[1]),
        moments[2]: lambda: joined.append(cluster.add_node(num_cpus=2)),
    }
    found = run(cluster, stages, source, actions=actions, seen=seen)
    return {**found, "gone": [node.node_id for node in nodes], "joined": joined[0].node_id, "moments": moments}


def leaving(cluster):
    """A node joins a run that began on one, gets work, and dies with the only copies of large outputs.

    It dies when Ray says that its CPUs are taken.
    """
    joined, left_at, free, seen = [], [], {}, set()
    source = Source(200, is_enough=lambda: bool(left_at) and source.given > left_at[0] + 200)

    def leave():
        if not joined or left_at or joined[0].node_id not in seen:
            return
        free_cpus = look(free)[joined[0].node_id]
        if free_cpus == 0.0:
            cluster.remove_node(joined[0], allow_graceful=False)
            left_at.append(source.given)

    stages = [
        Where(0.02, size=300_000).with_(name="first"),
        Where(0.02, size=300_000).with_(name="second"),
        Where(0.02).with_(name="third"),
    ]
    actions = {20: lambda: joined.append(cluster.add_node(num_cpus=2))}
    found = run(cluster, stages, source, actions=actions, seen=seen, on_output=leave)
    return {**found, "left_at": left_at}


def leaving_idle(cluster):
    """The node of a stage's only worker dies while that has nothing to do; there is another node for it."""
    nodes = [cluster.add_node(num_cpus=1, resources={"spot": 1}) for _ in range(2)]
    cluster.wait_for_nodes()
    seen, is_removed = set(), threading.Event()

    def remove():
        for node in nodes:
            if node.node_id in seen:
                cluster.remove_node(node, allow_graceful=False)
        is_removed.set()

    def wait():
        """Wait until Ray says so, and then until the run has looked."""
        is_removed.wait(LONGEST_S)
        late_s = time.monotonic() + LONGEST_S
        while any(node["Alive"] and node["NodeID"] in seen for node in ray.nodes()) and time.monotonic() < late_s:
            time.sleep(0.1)
        time.sleep(5)

    only = Where().with_(name="only", max_workers=1, resources=Resources(cpus=1, custom={"spot": 1}))
    source = Source(10, waits={5: wait})
    return run(cluster, [only], source, actions={5: remove}, seen=seen)


def headless(cluster):
    """The head, which has the most CPUs, is ignored: the CPUs of the two other nodes are reserved, and no others.

    There is work until Ray says so.
    """
    workers = [cluster.add_node(num_cpus=2).node_id for _ in range(2)]
    cluster.wait_for_nodes()
    free, seen = {}, set()

    def are_taken():
        return seen >= set(workers) and not any(look(free)[each] for each in workers)

    source = Source(100, is_enough=are_taken)
    found = run(cluster, [Where(0.05)], source, seen=seen, ignore_head_node=True)
    return {**found, "workers": workers, "free_cpus": [free.get(each) for each in workers], "free_everywhere": free}


def look(free):
    """Return the free CPUs of each node, which Ray tells a moment late, in the dictionary that was given."""
    free |= {node_id: each.get("CPU", 0.0) for node_id, each in available_resources_per_node().items()}
    return free


class Other:
    """An actor of another job."""

    def is_there(self):
        return True


def start_cluster(head):
    """Start a cluster of one node; on a busy machine Ray now and then does not hear of its own node in time."""
    for _ in range(TRIES - 1):
        with suppress(Exception):
            return Cluster(initialize_head=True, head_node_args=head)
    return Cluster(initialize_head=True, head_node_args=head)


def main(case, *arguments):
    cpus = 8 if case == "headless" else 2
    cases = [mixed, changing, leaving, leaving_idle, headless]
    with only_needed_processes():
        cluster = start_cluster({"num_cpus": cpus, "include_dashboard": False})
        try:
            found = {each.__name__: each for each in cases}[case](cluster, *arguments)
        finally:
            cluster.shutdown()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
