"""The scheduler in virtual time: balance, bounds and cost at sizes no test machine has."""

import pytest

from curator_core.executors.streaming.model import Held, Node, StepSpec
from curator_core.executors.streaming.simulator import Simulation, StepModel

CPUS = [Node("one", cpus=7)]
GPUS = [Node("one", cpus=7, gpus=7)]
LEASED = [StepSpec(name) for name in ("a", "b", "c")]
HELD = [StepSpec(name, cpus=0, held=Held(gpus=1)) for name in ("a", "b", "c")]
SPEEDS = (0.05, 0.2, 0.1)


def counts_at(workers, moment):
    return [[count for at, count in step if at <= moment][-1] for step in workers]


@pytest.mark.parametrize(("steps", "nodes"), [(LEASED, CPUS), (HELD, GPUS)], ids=["leased CPUs", "held GPUs"])
def test_uneven_stages_reach_the_ideal_rate_within_seconds(steps, nodes):
    result = Simulation(steps, [StepModel(each) for each in SPEEDS], nodes, tasks=1_000).run()
    assert result.outputs == 1_000
    assert result.rate(8, 40) >= 0.97 * 20
    assert result.makespan_s < 1.1 * 50
    assert result.busy_fractions[1] > 0.99


@pytest.mark.parametrize(("steps", "nodes"), [(LEASED, CPUS), (HELD, GPUS)], ids=["leased CPUs", "held GPUs"])
def test_a_swap_of_speeds_is_followed_within_seconds(steps, nodes):
    def swapped(before, after):
        return StepModel(lambda now: before if now < 25 else after)

    models = [swapped(0.05, 0.2), swapped(0.2, 0.05), StepModel(0.1)]
    result = Simulation(steps, models, nodes, tasks=1_000).run()
    assert result.rate(32, 48) >= 0.97 * 20
    assert result.makespan_s < 1.15 * 50
    if steps is HELD:
        assert counts_at(result.workers, 20) == [1, 4, 2]
        assert counts_at(result.workers, 33) == [4, 1, 2]


def test_a_slow_start_behind_a_fast_stage_costs_no_more_than_itself():
    models = [StepModel(0.01), StepModel(0.05, boot_s=10)]
    result = Simulation([StepSpec("fast"), StepSpec("slow start")], models, [Node("one", cpus=4)], tasks=2_000).run()
    assert result.makespan_s < 1.2 * (10 + 2_000 * 0.05 / 4)


def test_many_stages_share_two_cores():
    steps = [StepSpec(f"step {n}") for n in range(13)]
    result = Simulation(steps, [StepModel(0.001)] * 13, [Node("one", cpus=2)], tasks=5_000).run()
    assert result.makespan_s < 1.15 * 5_000 * 0.013 / 2


def test_a_fast_producer_of_large_outputs_is_held_back():
    steps = [StepSpec("producer"), StepSpec("consumer")]
    models = [StepModel(0.005, output_bytes=4 << 20), StepModel(0.05)]
    result = Simulation(steps, models, [Node("one", cpus=2)], tasks=2_000, memory_limit_bytes=200 << 20).run()
    assert result.outputs == 2_000
    assert result.peak_bytes <= 200 << 20


def test_more_gpu_stages_than_gpus_take_turns():
    steps = [StepSpec(f"model {n}", held=Held(gpus=1)) for n in range(3)]
    models = [StepModel(0.02, boot_s=1.0)] * 3
    result = Simulation(steps, models, [Node("one", cpus=4, gpus=1)], tasks=200).run(limit_s=2_000)
    assert result.outputs == 200


def test_fan_out_counts_when_gpus_are_shared_out():
    steps = [StepSpec("split", held=Held(gpus=1)), StepSpec("each", held=Held(gpus=1))]
    models = [StepModel(0.4, fan_out=8), StepModel(0.1)]
    result = Simulation(steps, models, [Node("one", cpus=6, gpus=6)], tasks=400).run()
    assert result.outputs == 3_200
    assert counts_at(result.workers, 30) == [2, 4]


def test_deaths_lose_nothing():
    models = [StepModel(0.01, deadly=frozenset({5, 40})), StepModel(0.02, deadly=frozenset({17, 18, 60}))]
    result = Simulation([StepSpec("a"), StepSpec("b")], models, [Node("one", cpus=4)], tasks=1_000).run()
    assert (result.outputs, result.given_up) == (1_000, 0)


@pytest.mark.parametrize("workers", [100, 1_000])
def test_the_cost_of_a_decision_does_not_grow_with_the_cluster(workers):
    speeds = (0.5, 2.0, 1.0, 0.25, 1.25)
    nodes = [Node(f"node {n}", cpus=10) for n in range(workers // 10)]
    tasks = 2_000
    simulation = Simulation(
        [StepSpec(f"step {n}") for n in range(5)], [StepModel(each) for each in speeds], nodes, tasks=tasks
    )
    result = simulation.run()
    assert result.outputs == tasks
    assert result.scheduler_s / (5 * tasks) < 0.005  # some hundred microseconds, on a busy machine
