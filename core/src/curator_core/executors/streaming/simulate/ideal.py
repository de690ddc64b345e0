"""How long a run has to take at least, whatever the schedule."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.streaming.engine.model import Node, StepSpec
    from curator_core.executors.streaming.simulate.simulator import StepModel

__all__ = ["Ideal", "ideal_run", "work_seconds"]

_SLACK = 1e-9


@dataclass(frozen=True)
class Ideal:
    """Durations that no schedule can beat.

    Args:
        work_s: With every unit of the scarcest resource at work from the first moment to the last.
        with_ramp_s: With the time besides in which that resource cannot be at work: workers have to start, the first
            task has to come through the steps before, the last one through those behind.
    """

    work_s: float
    with_ramp_s: float


def ideal_run(steps: Sequence[StepSpec], models: Sequence[StepModel], nodes: Sequence[Node], *, tasks: int) -> Ideal:
    """Return the shortest possible run.

    Two things bound it: all work that needs a resource, divided by all there is of it, and the work of each step,
    divided by the most workers it can have.

    >>> from curator_core.executors.streaming.engine.model import Node, StepSpec
    >>> from curator_core.executors.streaming.simulate.simulator import StepModel
    >>> models = [StepModel(0.05), StepModel(0.2), StepModel(0.1)]
    >>> ideal_run([StepSpec("a"), StepSpec("b"), StepSpec("c")], models, [Node("one", cpus=7)], tasks=1_000)
    Ideal(work_s=50.0, with_ramp_s=50.5)
    """
    heads, tails = _ramps(models)
    work = work_seconds(models, tasks)
    by_resource: dict[str, list[int]] = defaultdict(list)
    needed: dict[str, float] = defaultdict(float)
    bounds: list[tuple[float, float]] = []
    for index, spec in enumerate(steps):
        for name, amount in _amounts(spec, nodes).items():
            by_resource[name].append(index)
            needed[name] += work[index] * amount
        if spec.cpus or spec.held:
            max_workers = min(_max_workers(spec, nodes), math.inf if spec.max_workers is None else spec.max_workers)
            bounds.append((work[index] / max(1, max_workers), heads[index] + tails[index]))
    capacity = _capacity(nodes)
    for name, users in by_resource.items():
        ramp_s = min(heads[index] for index in users) + min(tails[index] for index in users)
        if capacity.get(name):
            bounds.append((needed[name] / capacity[name], ramp_s))
    work_s = max((each for each, _ in bounds), default=0.0)
    return Ideal(work_s, max((each + ramp_s for each, ramp_s in bounds), default=0.0))


def work_seconds(models: Sequence[StepModel], tasks: int) -> list[float]:
    """Return the seconds that each step has to work in all."""
    work_s = []
    flow = float(tasks)
    for model in models:
        work_s.append(flow * model.seconds(0.0))
        flow *= model.fan_out
    return work_s


def _ramps(models: Sequence[StepModel]) -> tuple[list[float], list[float]]:
    """Return when each step can begin at the earliest, and how long it takes from its last output to the end."""
    heads: list[float] = []
    arrives_s = 0.0
    for model in models:
        heads.append(max(model.boot_s, arrives_s))
        arrives_s = heads[-1] + model.seconds(0.0)
    services = [model.seconds(0.0) for model in models]
    return heads, [sum(services[index + 1 :]) for index in range(len(services))]


def _amounts(spec: StepSpec, nodes: Sequence[Node]) -> dict[str, float]:
    """Return what a worker of a step occupies while it works."""
    amounts = {"cpu": spec.cpus} if spec.cpus else {}
    return amounts | spec.held.amounts(Placement(nodes).largest_gpu_gb)


def _capacity(nodes: Sequence[Node]) -> dict[str, float]:
    return {"cpu": sum(node.cpus for node in nodes), **Placement(nodes).capacity}


def _max_workers(spec: StepSpec, nodes: Sequence[Node]) -> float:
    """Return how many workers of a step fit if it has the nodes for itself."""
    total = 0.0
    for node in nodes:
        amounts = _amounts(spec, [node])
        has = _capacity([node])
        total += min((math.floor(has.get(name, 0.0) / each + _SLACK) for name, each in amounts.items()), default=0)
    return total
