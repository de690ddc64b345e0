"""How many workers of a stage fit on the cluster, where, and how Ray is asked for one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from curator_core.values.errors import ConfigError, PipelineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.plan.fusion import Step
    from curator_core.plan.plan import PlannedStage
    from curator_core.values.resources import Resources

__all__ = ["WorkerSlot", "fitted", "usable_nodes", "worker_slots"]

_ROUNDING = 1e-6
_GIGABYTE = 1e9


@dataclass(frozen=True)
class WorkerSlot:
    """Room for one worker.

    Args:
        node_id: The machine.
        gpus: GPUs the worker takes there, with memory already turned into a fraction.
    """

    node_id: str
    gpus: float


def usable_nodes(nodes: Sequence[NodeResources], *, ignore_head_node: bool) -> list[NodeResources]:
    """Return the nodes that workers may run on.

    Raises:
        ConfigError: Only the head is left, and it is to be ignored.
    """
    usable = [node for node in nodes if not (ignore_head_node and node.is_head)]
    if not usable:
        raise ConfigError(
            "ignore_head_node is set, but the cluster has no other node", fix="leave it out, or add nodes"
        )
    return usable


def fitted(steps: Sequence[Step], nodes: Sequence[NodeResources]) -> tuple[Step, ...]:
    """Return steps as these nodes run them: without optional GPUs where there are none, with their workers per node."""
    has_gpus = any(node.gpus for node in nodes)

    def fit(planned: PlannedStage) -> PlannedStage:
        stage = planned.stage
        options: dict[str, Any] = {}
        if stage.resources.gpu_optional and not has_gpus:
            options["resources"] = stage.resources.without_optional_gpu()
        if stage.workers_per_node is not None and stage.num_workers() is None:
            options["workers"] = stage.workers_per_node * len(nodes)
        return replace(planned, stage=stage.with_(**options)) if options else planned

    return tuple(replace(step, stages=tuple(map(fit, step.stages))) for step in steps)


def worker_slots(
    stage: ProcessingStage[Any, Any], nodes: Sequence[NodeResources], *, workers: int | None = None
) -> list[WorkerSlot]:
    """Return a slot for each worker of a stage that has the cluster for itself, spread over the nodes.

    Args:
        stage: The stage; its own fixed, least and greatest number of workers is respected.
        nodes: The nodes it may use.
        workers: How many, unless the stage says; as many as fit unless given.

    Raises:
        PipelineError: No node has room for a single worker, or not all of them for the number the stage insists on.
    """
    by_node = [_slots_on(stage.resources, node) for node in nodes]
    # One from each node in turn, so that a stage with few workers uses all machines.
    slots = [slot for slot in chain.from_iterable(zip_longest(*by_node)) if slot is not None]
    if not slots:
        hint = " (gpu_memory_gb needs nodes with nvidia-smi)" if stage.resources.gpu_memory_gb else ""
        raise PipelineError(
            f"stage {stage.name!r} needs {stage.resources.describe()} for a worker, more than any node has "
            f"(the largest: {_describe_largest(nodes)})",
            fix=f"ask for less with .with_(resources=...), or join a cluster with larger nodes{hint}",
        )
    fixed = stage.num_workers()
    wanted = fixed or workers or len(slots)
    wanted = max(wanted, stage.min_workers or 1)
    if stage.max_workers is not None:
        wanted = min(wanted, stage.max_workers)
    min_workers = fixed or stage.min_workers or 1
    if min_workers > len(slots):
        raise PipelineError(
            f"stage {stage.name!r} asks for {min_workers} workers of {stage.resources.describe()}, "
            f"but the cluster has room for {len(slots)}",
            fix="ask for fewer workers or smaller ones",
        )
    return slots[: min(wanted, len(slots))]


def _slots_on(resources: Resources, node: NodeResources) -> list[WorkerSlot]:
    gpus = _gpus_for(resources, node)
    if gpus is None:
        return []
    needs = {"memory": (resources.memory_gb * _GIGABYTE, float(node.memory_bytes)), "cpus": (resources.cpus, node.cpus)}
    needs |= {name: (amount, node.custom.get(name, 0.0)) for name, amount in resources.custom.items()}
    room = [int(have / need + _ROUNDING) for need, have in needs.values() if need]
    if 0 < gpus < 1:  # a worker's fraction comes from one GPU
        room.append(int(node.gpus) * int(1 / gpus + _ROUNDING))
    elif gpus:
        room.append(int(node.gpus / gpus + _ROUNDING))
    count = min(room, default=math.ceil(node.cpus))
    return [WorkerSlot(node.node_id, gpus)] * count


def _gpus_for(resources: Resources, node: NodeResources) -> float | None:
    """Return the GPUs of a worker on a node, None where it cannot run there."""
    if not resources.gpu_memory_gb:
        return resources.gpus
    if not node.gpus or node.gpu_memory_gb is None or resources.gpu_memory_gb > node.gpu_memory_gb:
        return None
    return resources.gpu_fraction(node.gpu_memory_gb)


def _describe_largest(nodes: Sequence[NodeResources]) -> str:
    largest = max(nodes, key=lambda node: (node.gpus, node.cpus))
    return f"cpus={largest.cpus:g} gpus={largest.gpus:g} memory_gb={largest.memory_bytes / _GIGABYTE:.1f}"
