"""The scheduler in virtual time: balance, bounds and cost at sizes no test machine has."""

import pytest

from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel


def counts_at(workers, moment):
    return [[count for at, count in step if at <= moment][-1] for step in workers]


def test_a_slow_start_behind_a_fast_stage_costs_no_more_than_itself():
    models = [StepModel(0.01), StepModel(0.05, boot_s=10)]
    result = Simulation([StepSpec("fast"), StepSpec("slow start")], models, [Node("one", cpus=4)], tasks=2_000).run()
    assert result.makespan_s < 1.2 * (10 + 2_000 * 0.05 / 4)


def test_many_stages_share_two_cores():
    steps = [StepSpec(f"step {n}") for n in range(13)]
    result = Simulation(steps, [StepModel(0.001)] * 13, [Node("one", cpus=2)], tasks=5_000).run()
    assert result.makespan_s < 1.15 * 5_000 * 0.013 / 2


@pytest.mark.parametrize("nodes", [1, 5])
def test_a_step_that_needs_several_cpus_is_not_starved_by_small_ones(nodes):
    """Four CPUs are never free by chance on nodes that small calls keep full."""
    steps = [StepSpec("small"), StepSpec("wide", cpus=4), StepSpec("narrow")]
    models = [StepModel(0.1, spread=0.5), StepModel(0.1, spread=0.5), StepModel(0.05, spread=0.5)]
    machines = [Node(f"node {n}", cpus=6) for n in range(nodes)]
    result = Simulation(steps, models, machines, tasks=1_000).run()
    assert result.outputs == 1_000
    assert result.makespan_s < 1.25 * 1_000 * (0.1 + 0.4 + 0.05) / (6 * nodes)


def test_a_short_run_of_tiny_tasks_fills_and_empties_its_steps_quickly():
    """Calls grow with the run, and the last tasks go in small ones, so that no step waits for a whole one before it."""
    boot_s, tasks, service_s = 0.5, 2_000, 1e-5
    steps = [StepSpec(f"step {n}") for n in range(3)]
    result = Simulation(steps, [StepModel(service_s, boot_s=boot_s)] * 3, [Node("one", cpus=3)], tasks=tasks).run()
    assert result.outputs == tasks
    assert result.makespan_s - boot_s < 2.4 * tasks * service_s


def test_a_source_takes_no_share_from_those_it_feeds():
    steps = [StepSpec("files", is_source=True), StepSpec("each file")]
    result = Simulation(steps, [StepModel(0.01, fan_out=40), StepModel(0.5)], [Node("one", cpus=4)], tasks=1).run()
    assert result.outputs == 40
    assert counts_at(result.workers, 0.5) == [1, 4]


def test_no_workers_are_started_when_the_end_is_near():
    steps = [StepSpec("first"), StepSpec("second")]
    models = [StepModel(0.1), StepModel(0.1, boot_s=2.0)]
    result = Simulation(steps, models, [Node("one", cpus=8)], tasks=800).run()
    assert result.outputs == 800
    assert max(count for _, count in result.workers[1]) <= 5  # its share, not the CPUs that the first one leaves


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


@pytest.mark.parametrize("stages", [3, 10])
def test_a_node_that_joins_is_used_though_all_workers_wait_on_the_first(stages):
    """Each worker waits for a CPU of its own node; that some are idle must not keep others from being started."""
    steps = [StepSpec(f"step {n}") for n in range(stages)]
    simulation = Simulation(steps, [StepModel(0.1)] * stages, [Node("one", cpus=1)], tasks=240)
    joining_s = 5.0
    simulation.run(limit_s=joining_s)
    simulation.scheduler.node_added(Node("two", cpus=2), joining_s)
    result = simulation.run()
    assert result.outputs == 240
    assert result.makespan_s < joining_s + 1.25 * 240 * 0.1 * stages / 3


@pytest.mark.parametrize("held", [Held(), Held(gpus=1)], ids=["leased", "held"])
def test_workers_that_are_replaced_cost_their_start_and_nothing_else(held):
    """A worker does fewer than twice the tasks it may do, and the line goes on meanwhile."""
    steps = [StepSpec("before"), StepSpec("leaky", held=held, max_worker_tasks=50), StepSpec("after")]
    models = [StepModel(0.01), StepModel(0.1, boot_s=1), StepModel(0.01)]
    result = Simulation(steps, models, [Node("one", cpus=4, gpus=2)], tasks=1_000).run()
    assert result.outputs == 1_000
    workers = 2 if held.gpus else 4
    assert result.makespan_s < 1.3 * (1_000 * 0.1 + 1_000 / 50 * 1) / workers + 10
