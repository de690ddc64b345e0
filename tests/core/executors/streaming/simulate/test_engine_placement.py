"""Where workers go and which of them make room, in virtual time: GPUs and memory are per device and node, not a sum."""

import math

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.engine.placement import Placement
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel

GB = 1_000_000_000


def gpu_nodes(count, gpus):
    return [Node(f"node {number}", cpus=8, gpus=gpus) for number in range(count)]


@pytest.mark.parametrize(
    ("held", "nodes"),
    [
        ([Held(gpus=0.6)] * 3, gpu_nodes(1, 2)),
        ([Held(gpus=1), Held(gpus=1), Held(gpus=2)], gpu_nodes(2, 2)),
        ([Held(gpus=2), Held(gpus=1), Held(gpus=2)], gpu_nodes(2, 3)),
        ([Held(memory_bytes=6 * GB)] * 3, [Node(name, cpus=8, memory_bytes=10 * GB) for name in "ab"]),
        ([Held(custom={"license": 2})] * 3, [Node(name, cpus=8, custom={"license": 3}) for name in "ab"]),
        ([Held(gpus=1), Held(gpus=1, memory_bytes=6 * GB), Held(memory_bytes=6 * GB)], [
            Node("a", cpus=8, gpus=2, memory_bytes=6 * GB), Node("b", cpus=8, memory_bytes=5 * GB)]),
    ],
    ids=["fractions", "one one two", "two one two", "memory", "custom", "mixed"],
)  # fmt: skip
def test_stages_that_fit_in_sum_but_not_per_gpu_or_node_come_to_an_end(held, nodes):
    steps = [StepSpec(f"step {n}", held=each) for n, each in enumerate(held)]
    models = [StepModel(0.02, output_bytes=1 << 20)] * len(steps)  # queues are full long before the source has ended
    result = Simulation(steps, models, nodes, tasks=300, memory_limit_bytes=64 << 20).run(limit_s=1_000)
    assert result.outputs == 300


def test_stages_that_do_fit_need_not_take_turns():
    steps = [StepSpec(f"step {n}", held=Held(gpus=gpus)) for n, gpus in enumerate((1, 1, 2))]
    result = Simulation(steps, [StepModel(0.1)] * 3, gpu_nodes(2, 2), tasks=300).run(limit_s=1_000)
    assert result.outputs == 300
    assert result.makespan_s < 35
    assert [max(count for _, count in each) for each in result.workers] == [1, 1, 1]


def swapped(before, after, swap_s=40.0):
    return lambda now: before if now < swap_s else after


def test_the_worker_that_makes_room_for_a_larger_one_is_the_one_to_stop():
    """Four workers of the first on two nodes, then two of either: the two that stop must be of one node."""
    steps = [StepSpec("small", held=Held(gpus=1)), StepSpec("large", held=Held(gpus=2))]
    models = [StepModel(swapped(0.8, 0.4)), StepModel(swapped(0.2, 0.4))]
    result = Simulation(steps, models, gpu_nodes(3, 2), tasks=600).run(limit_s=400)
    assert result.outputs == 600
    assert result.rate(20, 40) > 0.95 * 5
    assert result.rate(60, 100) > 0.95 * 5


needs = st.builds(
    lambda gpus, gigabytes: Held(gpus=gpus, memory_bytes=gigabytes * GB),
    st.sampled_from([0, 0.3, 0.5, 0.6, 1, 2, 3]),
    st.sampled_from([0, 0, 3, 6]),
)
machines = st.tuples(st.integers(0, 4), st.sampled_from([0, 5, 10]))


SMALL, WIDE = (Held(gpus=gpus, memory_bytes=3 * GB) for gpus in (0.3, 3))


@settings(max_examples=100)
@example([SMALL, SMALL, WIDE], [(0, 5), (3, 10), (3, 5)])  # more workers of the first left no place for the second
@given(st.lists(needs, min_size=2, max_size=4), st.lists(machines, min_size=1, max_size=3))
def test_whatever_the_sizes_a_run_ends_if_each_stage_fits_alone(held, sizes):
    nodes = [Node(f"node {n}", cpus=4, gpus=gpus, memory_bytes=size * GB) for n, (gpus, size) in enumerate(sizes)]
    assume(all(Placement(nodes).place(0, each, cpus=1) is not None for each in held))
    steps = [StepSpec(f"step {n}", held=each) for n, each in enumerate(held)]
    models = [StepModel(0.05, output_bytes=1 << 20)] * len(steps)
    simulation = Simulation(steps, models, nodes, tasks=60, memory_limit_bytes=20 << 20)
    assert simulation.run(limit_s=400).outputs == 60


def test_workers_that_do_not_start_are_named_with_what_they_wait_for(caplog):
    """Once after a minute, then after twice the time."""
    steps = [StepSpec("reader"), StepSpec("model", held=Held(gpus=1))]
    models = [StepModel(0.01), StepModel(0.01, boot_s=math.inf)]
    simulation = Simulation(steps, models, gpu_nodes(1, 1), tasks=10)
    simulation.run(limit_s=55)
    assert not caplog.records
    simulation.run(limit_s=300)
    messages = [record.message for record in caplog.records]
    assert ["after 60 s" in messages[0], "after 120 s" in messages[1], "after 240 s" in messages[2]] == [True] * 3
    assert len(messages) == 3
    assert messages[0].startswith("workers of 'model' (1 of 1, cpus=1 gpus=1) have not started")


def test_many_steps_that_do_not_start_are_told_in_one_line(caplog):
    steps = [StepSpec(f"step {n}") for n in range(8)]
    Simulation(steps, [StepModel(0.01, boot_s=math.inf)] * 8, [Node("one", cpus=2)], tasks=10).run(limit_s=100)
    [record] = caplog.records
    assert "'step 2' (1 of 1, cpus=1) and of" in record.message
    assert "'step 3'" not in record.message


def test_the_largest_free_place_is_told_in_the_units_of_the_request():
    nodes = [Node("a", cpus=8, gpus=2, memory_bytes=10 * GB), Node("b", cpus=4, memory_bytes=20 * GB)]
    placement = Placement(nodes)
    wide = StepSpec("wide", held=Held(gpus=4))
    assert (wide.describe(), placement.describe_largest(wide)) == ("cpus=1 gpus=4", "cpus=8 gpus=2")
    placement.place(0, Held(gpus=0.25))
    assert placement.describe_largest(wide) == "cpus=8 gpus=1"
    assert placement.describe_largest(StepSpec("part", held=Held(gpus=0.5))) == "cpus=8 gpus=1"
    assert placement.describe_largest(StepSpec("heavy", held=Held(memory_bytes=30 * GB))) == "cpus=4 memory_gb=20"
    assert Placement([]).describe_largest(wide) == "nothing: no node is left"
