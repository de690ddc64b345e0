"""The runs that the scheduler is measured by, in virtual time, and what is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.simulate.ideal import ideal_run
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.streaming.simulate.simulator import SimulationResult

OVERHEADS = {"latency_s": 0.0025, "overhead_s": 0.002}
"""Of a call, as measured on Ray: from the driver to a worker and back, and on the worker beside the work."""
SLOTS = 7
SPEEDS = (0.05, 0.2, 0.1)
SWAPPED = (0.2, 0.05, 0.1)
SWAP_S = 27.0
SETTLING_S = 10.0
_SPREAD = 0.5
_CPUS, _GPUS = 12, 8  # of a node; each has 20 workers at work
_DRAIN = 0.95  # the last tasks of a run leave workers idle; throughput is taken up to here


@dataclass(frozen=True)
class Run:
    """What is to be simulated."""

    steps: Sequence[StepSpec]
    models: Sequence[StepModel]
    nodes: Sequence[Node]
    tasks: int
    starts_at_once: float = float("inf")

    def simulate(self) -> SimulationResult:
        simulation = Simulation(
            self.steps, self.models, self.nodes, tasks=self.tasks, starts_at_once=self.starts_at_once, **OVERHEADS
        )
        return simulation.run()


def five_stages(workers: int, tasks: int) -> Run:
    """Return a run of five stages of different speeds, one on GPUs, one that makes two tasks of one, one that halves.

    A task that enters needs 2 seconds of a GPU and 3 of CPUs, and there are two GPUs to every three CPUs: both are
    scarce.
    """
    nodes = [Node(f"node {number}", cpus=_CPUS, gpus=_GPUS) for number in range(workers // (_CPUS + _GPUS))]
    steps = [
        StepSpec("read"),
        StepSpec("split"),
        StepSpec("model", cpus=0, held=Held(gpus=1)),
        StepSpec("filter"),
        StepSpec("write"),
    ]
    models = [
        StepModel(0.5, spread=_SPREAD),
        StepModel(1.0, spread=_SPREAD, fan_out=2.0),
        StepModel(1.0, spread=_SPREAD, boot_s=5.0),
        StepModel(0.35, spread=_SPREAD, fan_out=0.5),
        StepModel(0.8, spread=_SPREAD),
    ]
    return Run(steps, models, nodes, tasks)


def three_sleepers(*, is_held: bool, is_swapped: bool = False, tasks: int = 1_000) -> Run:
    """Return the run of 50, 200 and 100 ms on seven slots: CPUs that are leased or GPUs that are held."""
    held = {"cpus": 0, "held": Held(gpus=1)} if is_held else {}
    steps = [StepSpec(name, **held) for name in ("a", "b", "c")]
    models = [
        StepModel(_swapped(before, after) if is_swapped else before, boot_s=0.7)
        for before, after in zip(SPEEDS, SWAPPED, strict=True)
    ]
    # A small machine: it has as many slots as it likes, but only two cores to start workers on.
    return Run(steps, models, [Node("one", cpus=SLOTS, gpus=SLOTS)], tasks, starts_at_once=2)


def _swapped(before: float, after: float) -> Any:
    return lambda now: before if now < SWAP_S else after


def scale_figures(run: Run) -> dict[str, Any]:
    """Simulate, and compare with the ideal."""
    result = run.simulate()
    ideal = ideal_run(run.steps, run.models, run.nodes, tasks=run.tasks)
    return {
        "tasks": run.tasks,
        "outputs": result.outputs,
        "calls": result.calls,
        "workers_peak": sum(max(count for _, count in workers) for workers in result.workers),
        "makespan_s": result.makespan_s,
        "ideal_s": ideal.work_s,
        "ideal_with_ramp_s": ideal.with_ramp_s,
        "of_ideal": result.makespan_s / ideal.work_s,
        "of_ideal_with_ramp": result.makespan_s / ideal.with_ramp_s,
        "scheduler_us_per_task": 1e6 * result.scheduler_s / run.tasks,
        "scheduler_us_per_call": 1e6 * result.scheduler_s / result.calls,
    }


def sleeper_figures(run: Run, *, is_swapped: bool = False) -> dict[str, Any]:
    """Simulate, and see how soon and how nearly the ideal rate is reached."""
    result = run.simulate()
    ideal_per_s = SLOTS / sum(SPEEDS)
    ends = [at for at, count in result.output_times for _ in range(count)]
    drained_s = ends[int(len(ends) * _DRAIN)]
    figures = {
        "tasks": run.tasks,
        "outputs": result.outputs,
        "first_output_s": ends[0],
        "makespan_s": result.makespan_s,
        "wall_of_ideal": result.makespan_s * ideal_per_s / run.tasks,
        "steady_of_ideal": _rate(ends, ends[0] + SETTLING_S, SWAP_S if is_swapped else drained_s) / ideal_per_s,
    }
    if is_swapped:
        figures["steady_of_ideal_after_swap"] = _rate(ends, SWAP_S + SETTLING_S, drained_s) / ideal_per_s
    return {
        **figures,
        "bottleneck_busy": max(each for each in result.busy_fractions if each is not None),
        "workers_settled": _counts_at(result, SWAP_S - 1),
        "workers_at_end": _counts_at(result, drained_s),
        "workers_peak": sum(max(count for _, count in workers) for workers in result.workers),
        "scheduler_us_per_call": 1e6 * result.scheduler_s / result.calls,
    }


def _rate(ends: Sequence[float], begin_s: float, end_s: float) -> float:
    """Return outputs per second between the first and the last output of a time."""
    within = [at for at in ends if begin_s <= at <= end_s]
    return (len(within) - 1) / (within[-1] - within[0])


def _counts_at(result: SimulationResult, moment_s: float) -> list[int]:
    return [next((count for at, count in reversed(each) if at <= moment_s), 0) for each in result.workers]
