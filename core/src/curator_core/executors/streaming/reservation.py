"""Share a cluster with other jobs: reserve a run's CPUs, leave alone what others hold."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from curator_core.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.executors.cluster import NodeResources

__all__ = ["Reservation", "free_part"]

_PATIENCE_S = 60.0
_PATIENCE_WITH_ONE_S = 2.0
_RELEASE_S = 1.5  # what a run had that has just ended comes free within this time
_LOOK_AGAIN_S = 0.05
_NODE_LABEL = "ray.io/node-id"

Free = dict[str, dict[str, float]]


class Reservation:
    """What a run may use of a cluster.

    Its CPUs are reserved: workers lease from the reservation, other jobs see it. GPUs, memory and custom resources are
    held by workers, where Ray itself keeps others away; those that others hold when a run starts are left to them.
    """

    def __init__(self) -> None:
        self._groups: list[Any] = []

    def close(self) -> None:
        """Give everything back."""
        from ray.util import remove_placement_group

        for group in self._groups:
            remove_placement_group(group)

    def take(self, nodes: Sequence[NodeResources], *, wants_gpus: bool = False) -> list[NodeResources]:
        """Return the nodes with what the run may use of each.

        Args:
            nodes: The nodes.
            wants_gpus: Whether the run cannot do without any.

        Raises:
            ClusterError: No CPU or none of the GPUs is free, or others were faster.
        """
        free = _settled(nodes)
        left = [free_part(node, free.get(node.node_id)) for node in nodes]
        if not any(node.cpus for node in left):
            raise ClusterError("all CPUs of the cluster are in use", fix="wait for other jobs to end, or add nodes")
        if wants_gpus and any(node.gpus for node in nodes) and not any(node.gpus for node in left):
            raise ClusterError("all GPUs of the cluster are in use", fix="wait for other jobs to end, or add nodes")
        got = self._reserve([{"CPU": node.cpus} for node in left if node.cpus], None, _PATIENCE_S)
        if got is None:
            raise ClusterError(
                f"the cluster did not reserve {sum(node.cpus for node in left):g} CPUs within {_PATIENCE_S:g} s",
                fix="wait for other jobs to end, or add nodes",
            )
        return [replace(node, cpus=got.get(node.node_id, 0.0)) for node in left]

    def extend(self, node: NodeResources) -> NodeResources:
        """Return a node that has joined with what the run may use of it; its CPUs are reserved where Ray allows it.

        Where another node was lost, Ray may have moved what the run had reserved there to this one already. Those CPUs
        are not free, but the run's own.
        """
        deadline_s = time.monotonic() + _RELEASE_S
        while True:
            own, left = self._cpus_on(node.node_id), free_part(node, _free().get(node.node_id))
            if own or left.cpus or time.monotonic() > deadline_s:
                break
            time.sleep(_LOOK_AGAIN_S)
        if left.cpus:
            self._reserve([{"CPU": left.cpus}], [{_NODE_LABEL: node.node_id}], _PATIENCE_WITH_ONE_S)
        return replace(left, cpus=min(float(int(node.cpus)), left.cpus + own))

    def _cpus_on(self, node_id: str) -> float:
        """Return how many CPUs of a node are reserved for this run."""
        from ray.util import placement_group_table

        reserved = (
            table["bundles"][index].get("CPU", 0.0)
            for table in map(placement_group_table, self._groups)
            for index, place in table["bundles_to_node_id"].items()
            if place == node_id
        )
        return float(sum(reserved))

    def _reserve(
        self, bundles: list[dict[str, float]], labels: list[dict[str, str]] | None, patience_s: float
    ) -> dict[str, float] | None:
        """Reserve bundles on different nodes; return the CPUs got by node, or None if that takes too long."""
        from ray.util import placement_group, placement_group_table, remove_placement_group

        group = placement_group(bundles, strategy="STRICT_SPREAD", bundle_label_selector=labels)
        if not group.wait(patience_s):
            remove_placement_group(group)
            return None
        self._groups.append(group)
        table = placement_group_table(group)
        return {table["bundles_to_node_id"][index]: bundle["CPU"] for index, bundle in table["bundles"].items()}


def free_part(node: NodeResources, free: Mapping[str, float] | None) -> NodeResources:
    """Return a node with what is free of it: whole CPUs and GPUs; everything, where that is not known.

    >>> from curator_core.executors.cluster import NodeResources
    >>> shared = NodeResources("a", cpus=8, gpus=4, memory_bytes=100, custom={"disk": 2})
    >>> left = free_part(shared, {"CPU": 6.5, "GPU": 2.75, "memory": 60.0})
    >>> left.cpus, left.gpus, left.memory_bytes, left.custom
    (6.0, 2, 60, {'disk': 0.0})
    """
    if free is None:
        return replace(node, cpus=float(int(node.cpus)), gpus=math.floor(node.gpus))
    return replace(
        node,
        cpus=float(int(min(node.cpus, free.get("CPU", 0.0)))),
        gpus=math.floor(min(node.gpus, free.get("GPU", 0.0))),
        memory_bytes=int(min(node.memory_bytes, free.get("memory", 0.0))),
        custom={name: min(amount, free.get(name, 0.0)) for name, amount in node.custom.items()},
    )


def _settled(nodes: Sequence[NodeResources]) -> Free:
    """Return what is free on each node, after a moment in which what a run had that has just ended comes back.

    Without it, the second of two runs would get nothing, or little for all its life.
    """
    deadline_s = time.monotonic() + _RELEASE_S
    while True:
        free = _free()
        is_all_free = all(free_part(node, free.get(node.node_id)) == free_part(node, None) for node in nodes)
        if is_all_free or time.monotonic() > deadline_s:
            return free
        time.sleep(_LOOK_AGAIN_S)


def _free() -> Free:
    """Return what is free on each node, as far as Ray tells."""
    from ray._private import state

    ask = getattr(state, "available_resources_per_node", None)  # private to Ray: without it, all is taken for free
    return {} if ask is None else dict(ask())
