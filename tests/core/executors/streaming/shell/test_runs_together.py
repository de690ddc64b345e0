"""Runs that share a Ray: what one of them holds is reserved, so that the other gets the rest or a reason."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from curator_core import Pipeline, Resources, StreamingExecutor, Task, processing_stage
from curator_core.executors.ray.nodes import NodeResources, list_nodes
from curator_core.executors.streaming.engine.model import Held, StepSpec
from curator_core.executors.streaming.engine.run_share import run_share
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.shell import reservation
from curator_core.executors.streaming.shell.node_watch import NodeWatch
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState
from curator_core.values.errors import ClusterError


@processing_stage(name="echo")
def echo(task):
    return task


def gpu_pipeline(stages, gpus=1.0, **options):
    named = [echo.with_(name=f"model {n}", resources=Resources(gpus=gpus), **options) for n in range(stages)]
    return Pipeline("p", stages=named)


def tasks():
    return [Task(data=number) for number in range(20)]


def numbers(result):
    return sorted(task.data for task in result)


@pytest.mark.usefixtures("ray_session")
def test_a_second_run_that_finds_no_gpu_is_refused_instead_of_waiting_for_the_first():
    """Of four GPUs each got a part, and both waited for the rest for ever."""
    first = stream_plan(gpu_pipeline(3).build(), StreamingExecutor(), state=RunState(), initial_tasks=tasks())
    with closing(first):
        next(first)
        with pytest.raises(ClusterError, match=r"'model 0' needs cpus=1 gpus=1 .* leave at most cpus=2 free"):
            gpu_pipeline(3).run(executor=StreamingExecutor(), initial_tasks=tasks())
    assert numbers(gpu_pipeline(3).run(executor=StreamingExecutor(), initial_tasks=tasks())) == list(range(20))


@pytest.mark.usefixtures("ray_session")
def test_runs_with_limited_pools_share_the_gpus():
    found = []

    def run():
        pipeline = gpu_pipeline(2, max_workers=1)
        found.append(numbers(pipeline.run(executor=StreamingExecutor(), initial_tasks=tasks())))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [list(range(20))] * 2


@pytest.mark.usefixtures("ray_session")
def test_gpus_that_another_job_takes_between_look_and_start_end_the_run_with_a_reason(monkeypatch):
    import ray

    whole = reservation.free_resources()
    others = [ray.remote(num_gpus=1, num_cpus=0)(Other).remote() for _ in range(4)]
    ray.get([each.is_there.remote() for each in others])
    monkeypatch.setattr(reservation, "_settled", lambda nodes, tuning: whole)  # what was free a moment ago
    executor = StreamingExecutor(tuning=Tuning(reserve_again_s=1.0))
    try:
        with pytest.raises(ClusterError, match=r"'model 0' needs cpus=1 gpus=1 .* leave at most cpus=2 free"):
            gpu_pipeline(1).run(executor=executor, initial_tasks=tasks())
    finally:
        for each in others:
            ray.kill(each)


class Other:
    """An actor of another job."""

    def is_there(self):
        return True


NODE = NodeResources("one", cpus=8, gpus=4, memory_bytes=100, custom={"license": 2})


def parts(*steps, nodes=(NODE,), had=()):
    return [
        (each.gpus, each.memory_bytes, each.custom["license"]) for each in run_share(list(steps), nodes, had=list(had))
    ]


def test_a_run_reserves_what_its_workers_can_hold():
    one_gpu = StepSpec("model", held=Held(gpus=1), max_workers=1)
    assert parts(StepSpec("plain")) == [(0, 0, 0)]
    assert parts(one_gpu) == [(1, 0, 0)]
    assert parts(one_gpu, StepSpec("half", held=Held(gpus=0.5), max_workers=3)) == [(3, 0, 0)]
    assert parts(StepSpec("memory", cpus=2, held=Held(memory_bytes=10))) == [(0, 40, 0)]  # as many as have CPUs
    assert parts(StepSpec("any number", cpus=0, held=Held(gpus=1))) == [(4, 0, 0)]
    assert parts(StepSpec("both", cpus=0, held=Held(memory_bytes=1, custom={"license": 1}))) == [(0, 100, 2)]


def test_a_run_reserves_everything_where_its_workers_do_not_all_fit():
    steps = [StepSpec("gpu", held=Held(gpus=1)), StepSpec("gpu and memory", held=Held(gpus=1, memory_bytes=10))]
    assert parts(*steps) == [(4, 100, 0)]


def test_a_run_takes_of_a_node_that_joins_what_it_lacks():
    step = StepSpec("model", held=Held(gpus=1), max_workers=5)
    joined = NodeResources("two", cpus=8, gpus=4, custom={"license": 0})
    assert parts(step, nodes=[joined], had=[NODE]) == [(1, 0, 0)]


class Granted:
    """A placement group."""

    def wait(self, timeout_s):
        return True


class Interrupted:
    """A placement group that takes long: the user presses Ctrl-C."""

    def wait(self, timeout_s):
        raise KeyboardInterrupt


class FakeCluster:
    """Nodes with 4 CPUs and 2 GPUs of 80 GB each, of which Ray says nothing but the number."""

    def __init__(self, monkeypatch, nodes, group=Granted):
        self.nodes = nodes
        self._group = group
        self.groups = []
        monkeypatch.setattr("ray.nodes", lambda: [self.told(name) | {"Alive": True} for name in self.nodes])
        free = "ray._private.state.available_resources_per_node"
        monkeypatch.setattr(free, lambda: {name: self.told(name)["Resources"] for name in self.nodes})
        monkeypatch.setattr("ray.util.placement_group", self.group)
        monkeypatch.setattr("ray.util.remove_placement_group", self.groups.remove)
        monkeypatch.setattr(reservation, "measure_gpus", self.measured)

    def measured(self, nodes):
        return tuple(replace(node, gpu_memory_gb=80.0) for node in nodes)

    def told(self, name):
        return {"NodeID": name, "Resources": {"CPU": 4.0, "GPU": 2.0, "node:__internal_head__": 1.0}}

    def group(self, bundles, **_):
        self.groups.append(self._group())
        return self.groups[-1]


@pytest.mark.parametrize("after", ["b", "c"], ids=["one that was there before", "one that joins"])
def test_gpus_by_their_memory_are_made_up_for_on_another_node(monkeypatch, after):
    cluster = FakeCluster(monkeypatch, ["a", "b"])
    reserved = reservation.Reservation([StepSpec("m", held=Held(gpu_memory_gb=40), max_workers=2)], with_cpus=True)
    nodes = reserved.take(cluster.measured(list_nodes()))
    assert [node.gpus for node in nodes] == [1, 0]
    watch = NodeWatch(nodes, reserved)
    cluster.nodes = [after]
    changes = watch.changes(0.0, at_once=True)
    [node] = changes.joined or changes.grown
    assert (node.node_id, node.gpus, node.gpu_memory_gb) == (after, 1, 80.0)


def test_what_was_asked_for_when_a_run_is_interrupted_is_given_back(monkeypatch):
    cluster = FakeCluster(monkeypatch, ["a", "b"], group=Interrupted)
    with closing(reservation.Reservation([StepSpec("plain")], with_cpus=True)) as reserved:
        with pytest.raises(KeyboardInterrupt):
            reserved.take(list_nodes())
        assert len(cluster.groups) == 2
    assert cluster.groups == []
