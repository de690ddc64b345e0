"""Reserve a run's CPUs on a cluster that others use too: workers lease from the reservation, other jobs see it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from curator_core.errors import ClusterError
from curator_core.executors.cluster import import_ray

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curator_core.executors.cluster import NodeResources

__all__ = ["reserved_cpus"]

_PATIENCE_S = 60.0


@contextmanager
def reserved_cpus(nodes: Sequence[NodeResources]) -> Iterator[list[NodeResources]]:
    """Reserve the free CPUs of some nodes for the length of a ``with`` block; yield the nodes with what they got.

    Raises:
        ClusterError: No CPU is free, or others were faster.
    """
    import_ray()
    from ray.util import placement_group, placement_group_table, remove_placement_group

    free = _free_cpus()
    wanted = [float(int(free.get(node.node_id, node.cpus))) for node in nodes]
    if not any(wanted):
        raise ClusterError("all CPUs of the cluster are in use", fix="wait for other jobs to end, or add nodes")
    group = placement_group([{"CPU": cpus} for cpus in wanted if cpus], strategy="STRICT_SPREAD")
    try:
        if not group.wait(_PATIENCE_S):
            raise ClusterError(
                f"the cluster did not reserve {sum(wanted):g} CPUs within {_PATIENCE_S:g} s",
                fix="wait for other jobs to end, or add nodes",
            )
        table = placement_group_table(group)
        got = {table["bundles_to_node_id"][index]: bundle["CPU"] for index, bundle in table["bundles"].items()}
        yield [replace(node, cpus=got.get(node.node_id, 0.0)) for node in nodes]
    finally:
        remove_placement_group(group)


def _free_cpus() -> Mapping[str, float]:
    """Return the CPUs that are free on each node, as far as Ray tells."""
    from ray._private import state

    ask = getattr(state, "available_resources_per_node", None)  # private to Ray: without it, all CPUs are asked for
    if ask is None:
        return {}
    return {node_id: found.get("CPU", 0.0) for node_id, found in ask().items()}
