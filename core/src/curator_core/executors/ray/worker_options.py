"""What Ray must know to start a worker of a stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curator_core.executors.ray.capacity import WorkerSlot
    from curator_core.values.resources import Resources

__all__ = ["ray_options"]

_GIGABYTE = 1e9


def ray_options(resources: Resources, slot: WorkerSlot, *, pinned: bool) -> dict[str, Any]:
    """Return the options of an actor with these resources.

    Args:
        resources: What one worker needs.
        slot: Where it is meant to run.
        pinned: Let it run nowhere else.
    """
    options: dict[str, Any] = {"num_cpus": resources.cpus, "num_gpus": slot.gpus}
    if resources.memory_gb:
        options["memory"] = int(resources.memory_gb * _GIGABYTE)
    if resources.custom:
        options["resources"] = dict(resources.custom)
    if pinned:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(slot.node_id, soft=False)
    return options
