"""CPUs are leased by the call: a worker without calls occupies none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.streaming.model import Node

__all__ = ["Leases"]

_SLACK = 1e-9


class Leases:
    """Free CPUs per node."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._total: dict[str, float] = {}
        self._free: dict[str, float] = {}
        self.free_nodes: set[str] = set()
        """Nodes with any free CPU."""
        for node in nodes:
            self.add_node(node)

    @property
    def total(self) -> float:
        """CPUs of all nodes."""
        return sum(self._total.values())

    def add_node(self, node: Node) -> None:
        """Make the CPUs of a node available."""
        self._total[node.node_id] = node.cpus
        self._free[node.node_id] = node.cpus
        self._note(node.node_id)

    def remove_node(self, node_id: str) -> None:
        """Forget a node; leases on it need not be returned."""
        self._total.pop(node_id, None)
        self._free.pop(node_id, None)
        self.free_nodes.discard(node_id)

    def can_take(self, node_id: str, cpus: float) -> bool:
        """Return whether so many CPUs are free on a node."""
        free = self._free.get(node_id)
        return free is not None and (free + _SLACK >= cpus)

    def take(self, node_id: str, cpus: float) -> None:
        """Lease CPUs."""
        self._free[node_id] -= cpus
        self._note(node_id)

    def give_back(self, node_id: str, cpus: float) -> None:
        """Return leased CPUs."""
        if node_id in self._free:
            self._free[node_id] += cpus
            self._note(node_id)

    def _note(self, node_id: str) -> None:
        if self._free[node_id] > _SLACK:
            self.free_nodes.add(node_id)
        else:
            self.free_nodes.discard(node_id)
