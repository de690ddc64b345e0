"""CPUs are leased by the call: a worker without calls occupies none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.streaming.engine.candidates import Candidates
    from curator_core.executors.streaming.engine.model import Node

__all__ = ["Leases"]

_SLACK = 1e-9


class Leases:
    """Free CPUs per node, who waits for them, and for whom they are kept."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.total = 0.0
        """CPUs of all nodes."""
        self.leased = 0.0
        """Those of them that are leased."""
        self._total: dict[str, float] = {}
        self._free: dict[str, float] = {}
        self._waiting: dict[str, dict[int, Candidates]] = {}
        self._reserved: dict[str, int] = {}
        self._reservations: dict[int, set[str]] = {}
        for node in nodes:
            self.add_node(node)

    def add_node(self, node: Node) -> None:
        """Make the CPUs of a node available."""
        self.remove_node(node.node_id)
        self._total[node.node_id] = self._free[node.node_id] = node.cpus
        self.total += node.cpus

    def remove_node(self, node_id: str) -> None:
        """Forget a node; leases on it need not be returned."""
        if node_id in self._total:
            cpus = self._total.pop(node_id)
            self.total -= cpus
            self.leased -= cpus - self._free.pop(node_id)
            self._unreserve(node_id)

    def can_take(self, node_id: str, cpus: float, step: int) -> bool:
        """Return whether so many CPUs are free on a node, and not kept for a step behind this one."""
        free = self._free.get(node_id)
        if free is None or free + _SLACK < cpus:
            return False
        return not self._reserved or self._reserved.get(node_id, -1) <= step

    def take(self, node_id: str, cpus: float, step: int) -> None:
        """Lease CPUs."""
        self._free[node_id] -= cpus
        self.leased += cpus
        self.unreserve(node_id, step)

    def give_back(self, node_id: str, cpus: float) -> None:
        """Return leased CPUs, and tell those who wait for them."""
        if node_id in self._free:
            self._free[node_id] += cpus
            self.leased -= cpus
            self._tell(node_id)

    # Who waits

    def watch(self, node_id: str, candidates: Candidates) -> None:
        """Note that a step has idle workers on a node."""
        self._waiting.setdefault(node_id, {})[candidates.step] = candidates

    def unwatch(self, node_id: str, candidates: Candidates) -> None:
        """Note that a step has no idle workers on a node any more."""
        waiting = self._waiting[node_id]
        del waiting[candidates.step]
        if not waiting:
            del self._waiting[node_id]
        self.unreserve(node_id, candidates.step)

    def waiting_at(self, node_id: str) -> dict[int, Candidates]:
        """Return the steps with idle workers on a node."""
        return self._waiting.get(node_id, _NOBODY)

    def _tell(self, node_id: str) -> None:
        for each in self.waiting_at(node_id).values():
            each.cpus_are_back(node_id)

    # For whom they are kept

    def reserve(self, node_id: str, step: int) -> bool:
        """Keep the free CPUs of a node for a step; return False if they are kept for it, or a later one, already."""
        owner = self._reserved.get(node_id, -1)
        if owner >= step or node_id not in self._free:
            return False
        if owner >= 0:
            self._reservations[owner].discard(node_id)
        self._reserved[node_id] = step
        self._reservations.setdefault(step, set()).add(node_id)
        return True

    def reserved_for(self, node_id: str) -> int | None:
        """Return the step that a node is kept for."""
        return self._reserved.get(node_id)

    def reservations(self, step: int) -> int:
        """Return how many nodes are kept for a step."""
        return len(self._reservations.get(step, ()))

    def unreserve(self, node_id: str, step: int) -> None:
        """Keep a node no longer, if it was kept for this step."""
        if self._reserved and self._reserved.get(node_id) == step:
            self._unreserve(node_id)

    def unreserve_all(self, step: int) -> None:
        """Keep nothing for a step any longer."""
        for node_id in list(self._reservations.get(step, ())):
            self._unreserve(node_id)

    def _unreserve(self, node_id: str) -> None:
        owner = self._reserved.pop(node_id, None)
        if owner is not None:
            self._reservations[owner].discard(node_id)
            self._tell(node_id)


_NOBODY: dict[int, Candidates] = {}
