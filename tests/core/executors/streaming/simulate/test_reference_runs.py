"""The runs that the scheduler is measured by: near the ideal on seven slots and on ten thousand workers."""

from pathlib import Path

import pytest

from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.simulate.ideal import ideal_run
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel
from curator_core.executors.streaming.simulate.start_contention import StartingNode

BENCHMARKS = Path(__file__).resolve().parents[5] / "benchmarks"
IDS = ["leased CPUs", "held GPUs"]


@pytest.fixture
def runs(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import simulated_runs

    return simulated_runs


@pytest.mark.parametrize("is_held", [False, True], ids=IDS)
def test_uneven_stages_settle_near_the_ideal(runs, is_held):
    figures = runs.sleeper_figures(runs.three_sleepers(is_held=is_held))
    assert figures["outputs"] == 1_000
    assert figures["steady_of_ideal"] >= 0.975
    assert figures["wall_of_ideal"] <= 1.1
    assert figures["bottleneck_busy"] >= 0.993
    assert figures["workers_settled"] == ([1, 4, 2] if is_held else [2, 5, 2])
    assert figures["workers_peak"] <= 10  # starting workers costs a small machine seconds


@pytest.mark.parametrize("is_held", [False, True], ids=IDS)
def test_a_swap_of_speeds_is_followed_within_seconds(runs, is_held):
    figures = runs.sleeper_figures(runs.three_sleepers(is_held=is_held, is_swapped=True), is_swapped=True)
    assert figures["outputs"] == 1_000
    assert figures["steady_of_ideal"] >= 0.975
    assert figures["steady_of_ideal_after_swap"] >= 0.975
    assert figures["wall_of_ideal"] <= 1.13
    if is_held:
        assert figures["workers_settled"] == [1, 4, 2]
        assert figures["workers_at_end"] == [4, 1, 2]


@pytest.mark.parametrize("is_held", [False, True], ids=IDS)
def test_tasks_that_trickle_in_are_gathered_into_calls(runs, is_held):
    """The stages are equally fast, so that queues stay short: sent at once, tasks would make 1,500 calls and more."""
    result = runs.three_sleepers(is_held=is_held).simulate()
    assert result.outputs == 1_000
    assert result.calls < 1_450


@pytest.mark.parametrize(("workers", "tasks", "most"), [(100, 4_000, 1.02), (10_000, 8_000, 1.2)])
def test_five_stages_come_near_the_ideal_makespan(runs, workers, tasks, most):
    """On ten thousand workers the run is so short here that its ends weigh much; the benchmark has a million tasks."""
    figures = runs.scale_figures(runs.five_stages(workers, tasks))
    assert figures["outputs"] == tasks
    assert 1.0 <= figures["of_ideal_with_ramp"] <= most
    assert figures["workers_peak"] <= 1.35 * workers


def test_a_call_costs_as_many_steps_of_the_scheduler_on_many_workers_as_on_few(runs):
    """Counted, not timed: lines of the engine's code executed per call do not grow with the cluster."""
    few, many = (lines_per_call(runs.five_stages(workers, 2 * workers)) for workers in (60, 600))
    assert many < 1.15 * few


def lines_per_call(run):
    import sys

    lines = 0

    def count(frame, event, _):
        nonlocal lines
        if "executors/streaming" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        if event == "line":
            lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        result = run.simulate()
    finally:
        sys.settrace(before)
    return lines / result.calls


# What makes the simulation realistic


def test_workers_that_start_together_share_the_cores():
    alarms = []
    node = StartingNode(2, lambda delay_s, number: alarms.append((delay_s, number)))
    for worker_id in range(4):
        node.start(worker_id, 0.5, now=0.0)
    delay_s, number = alarms[-1]
    assert delay_s == pytest.approx(1.0)  # four at half the speed
    assert node.ring(alarms[0][1], 0.5) == []  # out of date
    node.start(4, 0.5, now=0.5)
    delay_s, number = alarms[-1]
    assert delay_s == pytest.approx(0.625)  # five now: a quarter second of work is left to the first
    assert sorted(node.ring(number, 0.5 + delay_s)) == [0, 1, 2, 3]
    assert alarms[-1][0] == pytest.approx(0.25)  # the last has two cores to itself


def test_overheads_and_starts_lengthen_a_run():
    def makespan(**options):
        return Simulation([StepSpec("a")], [StepModel(0.1)], [Node("one", cpus=4)], tasks=400, **options).run()

    plain, slow = makespan(), makespan(overhead_s=0.02, starts_at_once=1)
    assert slow.makespan_s > plain.makespan_s + 1
    assert slow.outputs == plain.outputs == 400


def test_spread_times_are_the_same_in_every_run():
    def run():
        model = StepModel(0.1, spread=0.5)
        return Simulation([StepSpec("a")], [model], [Node("one", cpus=2)], tasks=100).run()

    assert run().output_times == run().output_times
    assert (
        run().output_times
        != Simulation([StepSpec("a")], [StepModel(0.1)], [Node("one", cpus=2)], tasks=100).run().output_times
    )


def test_the_ideal_counts_the_way_to_the_scarce_step_and_from_it():
    steps = [StepSpec("before"), StepSpec("scarce", cpus=0, held=Held(gpus=1)), StepSpec("behind")]
    models = [StepModel(1.0, boot_s=0.5), StepModel(4.0, boot_s=1.0), StepModel(2.0, boot_s=0.5)]
    ideal = ideal_run(steps, models, [Node("one", cpus=100, gpus=2)], tasks=10)
    assert ideal.work_s == pytest.approx(10 * 4.0 / 2)
    assert ideal.with_ramp_s == pytest.approx(0.5 + 1.0 + 10 * 4.0 / 2 + 2.0)
    result = Simulation(steps, models, [Node("one", cpus=100, gpus=2)], tasks=10, latency_s=0.0).run()
    assert ideal.with_ramp_s - 1e-9 <= result.makespan_s <= ideal.with_ramp_s + 0.1


@pytest.mark.parametrize("most", [1, None])
def test_the_ideal_knows_how_many_workers_a_step_can_have(most):
    step = StepSpec("a", cpus=3, max_workers=most)
    ideal = ideal_run([step], [StepModel(1.0)], [Node("one", cpus=8), Node("two", cpus=4)], tasks=12)
    assert ideal.work_s == pytest.approx(12 / (most or 3))
