"""Foretell a run: lay a plan out as the engine would, give its steps service times, and simulate it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray.capacity import worker_slots
from curator_core.executors.ray.nodes import NodeResources
from curator_core.executors.streaming.engine.model import Node, StepSpec
from curator_core.executors.streaming.simulate.ideal import ideal_run, work_seconds
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.plan.fusion import Step
    from curator_core.plan.plan import Plan

__all__ = ["DEFAULT_SERVICE_S", "Forecast", "Machines", "StageTimes", "StepForecast", "foretell"]

DEFAULT_SERVICE_S = 0.01
_PROCESS_START_S = 0.5
_GIGABYTE = 1e9
_SETTLED = (0.25, 0.9)  # the part of a run in which pools have their size: neither warm-up nor tail


@dataclass(frozen=True)
class Machines:
    """The virtual cluster: nodes that are all alike."""

    nodes: int = 1
    cpus: float = 1.0
    gpus: int = 0
    gpu_memory_gb: float | None = None
    memory_gb: float = 1e6
    custom: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StageTimes:
    """How stages behave, by name.

    Args:
        service_s: Seconds per task; of a source, per task it makes.
        fan_out: Tasks made of one.
        boot_s: Seconds to set a worker up, beyond the start of its process.
    """

    service_s: Mapping[str, float] = field(default_factory=dict)
    fan_out: Mapping[str, float] = field(default_factory=dict)
    boot_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StepForecast:
    """What a step is going to do.

    Args:
        busy_fraction: Fraction of its workers' time that they work. Workers without GPU or memory cost nothing
            otherwise.
        workers_start: Workers when its first ones are ready.
        workers_settled: The number it has for most of the time between warm-up and tail.
        queue_peak: Most tasks that wait in front of it.
        workers: Number of workers over time, as (seconds, count).
    """

    name: str
    service_s: float
    busy_fraction: float
    workers_start: int
    workers_settled: int
    workers_peak: int
    queue_peak: int
    workers: list[tuple[float, int]]


@dataclass(frozen=True)
class Forecast:
    """What a run is going to do.

    Args:
        ideal_s: Duration if the scarcest resource were in use from the first moment to the last.
        ideal_with_ramp_s: The same with the time that it takes to start and to end, which no schedule avoids.
        steady_rate: Outputs per second between warm-up and tail.
        scheduler_s: Real time that the scheduler took.
    """

    tasks: int
    outputs: int
    makespan_s: float
    ideal_s: float
    ideal_with_ramp_s: float
    steady_rate: float
    scheduler_s: float
    steps: list[StepForecast]


def foretell(
    plan: Plan, times: StageTimes, machines: Machines, *, tasks: int, is_batch: bool = False, **options: Any
) -> Forecast:
    """Simulate a run of a plan.

    A source, such as a listing of files, is simulated as one worker that ``tasks`` tasks pass through; without a
    service time it is left out.

    Args:
        plan: The plan; its inputs are not touched.
        times: How its stages behave. A stage without service time takes ``DEFAULT_SERVICE_S``.
        machines: The nodes.
        tasks: Number of tasks that enter.
        is_batch: Whether each step waits for the one before.
        options: Further arguments of the scheduler.

    Raises:
        PipelineError: A stage needs more than any node has.
    """
    nodes = [
        NodeResources(
            f"node-{number}",
            cpus=machines.cpus,
            gpus=machines.gpus,
            memory_bytes=int(machines.memory_gb * _GIGABYTE),
            gpu_memory_gb=machines.gpu_memory_gb,
            custom=machines.custom,
        )
        for number in range(machines.nodes)
    ]
    chosen = _timed_steps(plan, times)
    for step in chosen:
        worker_slots(step.stages[0].stage, nodes)
    specs = [_simulated_spec(step) for step in chosen]
    models = [_model(step, times) for step in chosen]
    engine_nodes = [Node.of(each) for each in nodes]
    ideal = ideal_run(specs, models, engine_nodes, tasks=tasks)
    result = Simulation(specs, models, engine_nodes, tasks=tasks, is_batch=is_batch, **options).run()
    begin_s, end_s = (fraction * result.makespan_s for fraction in _SETTLED)
    work = work_seconds(models, tasks)
    steps = [
        StepForecast(
            name=spec.name,
            service_s=model.seconds(0.0),
            busy_fraction=_fraction(work[index], _area(result.workers[index], result.makespan_s)),
            workers_start=_first_count(result.workers[index]),
            workers_settled=_usual_count(result.workers[index], begin_s, end_s),
            workers_peak=max((count for _, count in result.workers[index]), default=0),
            queue_peak=result.queue_peaks[index],
            workers=result.workers[index],
        )
        for index, (spec, model) in enumerate(zip(specs, models, strict=True))
    ]
    return Forecast(
        tasks=tasks,
        outputs=result.outputs,
        makespan_s=result.makespan_s,
        ideal_s=ideal.work_s,
        ideal_with_ramp_s=ideal.with_ramp_s,
        steady_rate=result.rate(begin_s, end_s) if end_s > begin_s else 0.0,
        scheduler_s=result.scheduler_s,
        steps=steps,
    )


def _timed_steps(plan: Plan, times: StageTimes) -> list[Step]:
    """Return the steps to simulate: all but sources that take no time."""
    timed = [
        step
        for step in plan.steps
        if not step.is_source or any(times.service_s.get(planned.stage.name) for planned in step.stages)
    ]
    return timed or list(plan.steps)


def _simulated_spec(step: Step) -> StepSpec:
    spec = StepSpec.of(step)
    # A real source is one long call; here it is many short ones, of which only one may run at a time.
    return replace(spec, max_workers=1) if step.is_source else spec


def _model(step: Step, times: StageTimes) -> StepModel:
    """Join the times of a step's stages: what a stage multiplies, the stages behind it have to do."""
    service_s, flow, boot_s = 0.0, 1.0, _PROCESS_START_S
    for planned in step.stages:
        name = planned.stage.name
        default_s = 0.0 if step.is_source else DEFAULT_SERVICE_S
        service_s += flow * times.service_s.get(name, default_s)
        flow *= times.fan_out.get(name, 1.0)
        boot_s += times.boot_s.get(name, 0.0)
    return StepModel(service_s, fan_out=flow, boot_s=boot_s)


def _first_count(workers: Sequence[tuple[float, int]]) -> int:
    """Return the count after all that became ready in the first moment."""
    return max((count for at, count in workers if at == workers[0][0]), default=0)


def _area(workers: Sequence[tuple[float, int]], until_s: float) -> float:
    """Return the workers' seconds: their number, summed over time."""
    ends = [at for at, _ in workers[1:]] + [until_s]
    return sum(count * max(0.0, end - at) for (at, count), end in zip(workers, ends, strict=False))


def _fraction(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 0.0


def _usual_count(workers: Sequence[tuple[float, int]], begin_s: float, end_s: float) -> int:
    """Return the number of workers that held for the longest time between two moments."""
    lasted: dict[int, float] = defaultdict(float)
    for (at, count), (until, _) in zip(workers, [*workers[1:], (math.inf, 0)], strict=True):
        lasted[count] += max(0.0, min(until, end_s) - max(at, begin_s))
    return max(lasted, key=lasted.__getitem__, default=0)
