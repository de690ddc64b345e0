"""How many workers fit where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Pipeline, ProcessingStage, Resources
from curator_core.executors.ray.capacity import fitted, usable_nodes, worker_slots
from curator_core.executors.ray.nodes import NodeResources
from curator_core.values.errors import ConfigError, PipelineError

HEAD = NodeResources("head", cpus=4, memory_bytes=8_000_000_000, is_head=True)
GPU_NODE = NodeResources("gpu", cpus=8, gpus=2, gpu_memory_gb=40.0, memory_bytes=64_000_000_000, custom={"nvme": 1})


class Stage(ProcessingStage):
    def process(self, task):
        return task


def slots(nodes=(HEAD, GPU_NODE), workers=None, **options):
    resources = Resources(**options.pop("resources", {}))
    return worker_slots(Stage().with_(resources=resources, **options), list(nodes), workers=workers)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"cpus": 1}, {"head": 4, "gpu": 8}),
        ({"cpus": 3}, {"head": 1, "gpu": 2}),
        ({"cpus": 0.5}, {"head": 8, "gpu": 16}),
        ({"gpus": 1}, {"gpu": 2}),
        ({"gpus": 0.25}, {"gpu": 8}),
        ({"gpus": 0.6}, {"gpu": 2}),
        ({"gpu_memory_gb": 10}, {"gpu": 8}),
        ({"memory_gb": 8}, {"head": 1, "gpu": 8}),
        ({"custom": {"nvme": 1}}, {"gpu": 1}),
        ({"cpus": 0}, {"head": 4, "gpu": 8}),
    ],
    ids=str,
)
def test_room_on_each_node(resources, expected):
    found = [slot.node_id for slot in slots(resources=resources)]
    assert {name: found.count(name) for name in set(found)} == expected


def test_few_workers_are_spread_over_the_nodes():
    assert [slot.node_id for slot in slots(workers=2)] == ["head", "gpu"]


def test_memory_becomes_a_fraction_of_the_nodes_gpu():
    assert slots(resources={"gpu_memory_gb": 10})[0].gpus == 0.25


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"workers": 3}, 3), ({"min_workers": 5}, 5), ({"max_workers": 1}, 1)],
    ids=str,
)
def test_the_stages_own_numbers_win(options, expected):
    stage = Stage().with_(**options)
    assert len(worker_slots(stage, [HEAD, GPU_NODE], workers=2)) == expected


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"cpus": 9}, r"'Stage' needs cpus=9 for a worker, more than any node has \(the largest: cpus=8 gpus=2"),
        ({"gpus": 4}, "gpus=4"),
        ({"gpu_memory_gb": 50}, "gpu_memory_gb=50"),
        ({"custom": {"tape": 1}}, "tape=1"),
    ],
    ids=str,
)
def test_what_fits_nowhere_is_refused(resources, message):
    with pytest.raises(PipelineError, match=message):
        slots(resources=resources)


def test_more_workers_than_fit_are_refused_when_the_stage_insists():
    with pytest.raises(PipelineError, match="asks for 13 workers of cpus=1, but the cluster has room for 12"):
        worker_slots(Stage().with_(workers=13), [HEAD, GPU_NODE])
    assert len(worker_slots(Stage(), [HEAD, GPU_NODE], workers=13)) == 12


def test_the_head_can_be_left_out():
    assert usable_nodes([HEAD, GPU_NODE], ignore_head_node=True) == [GPU_NODE]
    with pytest.raises(ConfigError, match="no other node"):
        usable_nodes([HEAD], ignore_head_node=True)


@given(
    cpus=st.floats(0.1, 8),
    gpus=st.sampled_from([0, 0.1, 0.3, 0.5, 1, 2]),
    nodes=st.lists(st.tuples(st.integers(1, 16), st.integers(0, 4)), min_size=1, max_size=4),
)
def test_slots_never_exceed_a_node(cpus, gpus, nodes):
    known = [NodeResources(str(n), cpus=c, gpus=g) for n, (c, g) in enumerate(nodes)]
    try:
        found = slots(known, resources={"cpus": cpus, "gpus": gpus})
    except PipelineError:
        return
    for node in known:
        here = [slot for slot in found if slot.node_id == node.node_id]
        assert len(here) * cpus <= node.cpus + 1e-3
        assert sum(slot.gpus for slot in here) <= node.gpus + 1e-3


def steps(**options):
    return Pipeline("p", stages=[Stage().with_(**options)]).build().steps


def test_an_optional_gpu_is_asked_for_where_there_is_one():
    optional = steps(resources=Resources(cpus=2, gpus=0.5, gpu_optional=True))
    assert fitted(optional, [HEAD, GPU_NODE])[0].resources.gpus == 0.5
    without = fitted(optional, [HEAD])[0]
    assert without.resources == Resources(cpus=2)
    assert len(worker_slots(without.stages[0].stage, [HEAD])) == 2


def test_workers_per_node_are_as_many_workers_as_there_are_nodes():
    assert fitted(steps(workers_per_node=3), [HEAD, GPU_NODE])[0].stages[0].stage.num_workers() == 6
    assert fitted(steps(workers_per_node=3, workers=2), [HEAD, GPU_NODE])[0].stages[0].stage.num_workers() == 2
    (step,) = steps()
    assert fitted([step], [HEAD]) == (step,)
