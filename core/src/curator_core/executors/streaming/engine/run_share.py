"""Which part of the nodes a run can use: what it should reserve and what others may have. Pure arithmetic."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.balancer import UNLIMITED_WORKERS, worker_limits
from curator_core.executors.streaming.engine.model import Node
from curator_core.executors.streaming.engine.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.executors.streaming.engine.model import Held, StepSpec
    from curator_core.executors.streaming.engine.placement import Place

__all__ = ["held_names", "run_share"]

_GPU, _MEMORY = "GPU", "memory"


def run_share(
    steps: Sequence[StepSpec], nodes: Sequence[NodeResources], *, had: Sequence[NodeResources] = ()
) -> list[NodeResources]:
    """Return nodes with the part of their GPUs, memory and custom resources that the workers of a run can hold.

    A step whose workers are limited, by itself or by the CPUs there are, leaves the rest to other jobs. Where the
    resources do not suffice for all workers, the run takes them all.

    >>> from curator_core.executors.ray.nodes import NodeResources
    >>> from curator_core.executors.streaming.engine.model import Held, StepSpec
    >>> node = NodeResources("a", cpus=8, gpus=4, memory_bytes=100, custom={"disk": 2})
    >>> one = StepSpec("one", held=Held(gpus=1), max_workers=1)
    >>> [part] = run_share([one], [node])
    >>> part.cpus, part.gpus, part.memory_bytes, part.custom
    (8, 1, 0, {'disk': 0.0})

    Args:
        steps: The steps of the run.
        nodes: What is free on nodes.
        had: What the run has on other nodes already.
    """
    holding = [step for step in steps if step.held]
    cpus = sum(node.cpus for node in itertools.chain(had, nodes))
    limits = [worker_limits(step, cpus)[1] for step in holding]
    placement = Placement([Node.of(node) for node in had])
    left = _place(placement, holding, limits)[0]
    for node in nodes:
        placement.add_node(Node.of(node))
    left, places = _place(placement, holding, left)
    taken: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for step, place in places:
        taken[place.node_id][_MEMORY] += step.held.memory_bytes
        for name, amount in step.held.custom.items():
            taken[place.node_id][name] += amount
    touched: dict[str, set[int]] = defaultdict(set)
    for _, place in places:
        touched[place.node_id].update(index for index, _ in place.gpu_share)
    scarce = {name for step, missing in zip(holding, left, strict=True) if missing for name in held_names(step.held)}
    return [_part(node, taken[node.node_id], len(touched[node.node_id]), scarce) for node in nodes]


def held_names(held: Held) -> set[str]:
    """Return Ray's names of the resources that a worker holds."""
    names = {name for name, amount in held.custom.items() if amount}
    if held.gpus or held.gpu_memory_gb:
        names.add(_GPU)
    if held.memory_bytes:
        names.add(_MEMORY)
    return names


def _place(
    placement: Placement, steps: Sequence[StepSpec], limits: Sequence[int]
) -> tuple[list[int], list[tuple[StepSpec, Place]]]:
    """Place as many workers of limited steps as fit, in turn; return how many are missing, and the places."""
    left = list(limits)
    places: list[tuple[StepSpec, Place]] = []
    open_steps = [index for index, limit in enumerate(limits) if limit < UNLIMITED_WORKERS]
    while open_steps:
        for index in list(open_steps):
            step = steps[index]
            place = placement.place(index, step.held, cpus=step.cpus) if left[index] else None
            if place is None:
                open_steps.remove(index)
            else:
                left[index] -= 1
                places.append((step, place))
    return left, places


def _part(node: NodeResources, taken: dict[str, float], gpus: int, scarce: set[str]) -> NodeResources:
    return replace(
        node,
        gpus=math.floor(node.gpus) if _GPU in scarce else gpus,
        memory_bytes=node.memory_bytes if _MEMORY in scarce else int(taken[_MEMORY]),
        custom={name: amount if name in scarce else taken[name] for name, amount in node.custom.items()},
    )
