"""CPUs are leased by the call: a worker without calls occupies none. Who may take a call, and who waits for CPUs."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.streaming.engine.model import Node, Worker

__all__ = ["Candidates", "Leases"]

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


class Candidates:
    """Idle workers by node, and busy ones that may have another call behind the one they run.

    Nodes that have both an idle worker and free CPUs are kept apart. They are entered when CPUs are given back or a
    worker becomes idle, and struck off when a look at them fails: every failed look pays for one entry.

    Args:
        step: Index of the step.
        cpus: What each of its workers leases.
        leases: The free CPUs.
    """

    def __init__(self, step: int, cpus: float, leases: Leases) -> None:
        self.step = step
        self._cpus = cpus
        self._leases = leases
        self.idle: dict[str, dict[int, Worker]] = {}
        """Idle workers by node."""
        self.open: dict[str, None] = {}
        """Nodes with an idle worker that, when last heard of, had CPUs for it."""
        self.busy: OrderedDict[int, Worker] = OrderedDict()
        """Workers with calls that may have more."""

    def update(self, worker: Worker, depth: int) -> None:
        """List a worker as what it is now. ``depth`` is how many calls a worker may have."""
        if worker.phase != "ready" or worker.is_alone or worker.suspended is not None or worker.yields_to is not None:
            self.discard(worker)
        elif not worker.calls:
            self.busy.pop(worker.worker_id, None)
            self._add_idle(worker)
        elif len(worker.calls) < depth:
            self.busy[worker.worker_id] = worker
        else:
            self.busy.pop(worker.worker_id, None)

    def discard(self, worker: Worker) -> None:
        """Strike a worker off."""
        self.busy.pop(worker.worker_id, None)
        waiting = self.idle.get(worker.node_id)
        if waiting is not None and waiting.pop(worker.worker_id, None) is not None and not waiting:
            self._close(worker.node_id)

    def cpus_are_back(self, node_id: str) -> None:
        """Note that a node where workers wait may have CPUs for them now."""
        self.open[node_id] = None

    @property
    def has_open_node(self) -> bool:
        """Whether an idle worker could have its CPUs now."""
        return any(map(self._can_give, self.open))

    def open_node(self, near: str | None) -> str | None:
        """Return a node with an idle worker whose CPUs are free, the one near the next tasks if possible."""
        if near is not None and near in self.open and self._can_give(near):
            return near
        while self.open:
            node_id, _ = self.open.popitem()
            if self._can_give(node_id):
                self.open[node_id] = None
                return node_id
        return None

    def pop_idle(self, node_id: str) -> Worker:
        """Take an idle worker of a node off the list."""
        waiting = self.idle[node_id]
        _, worker = waiting.popitem()
        if not waiting:
            self._close(node_id)
        return worker

    def pop_busy(self, depth: int) -> Worker | None:
        """Take the worker off the list that has had nothing waiting for longest."""
        while self.busy:
            _, worker = self.busy.popitem(last=False)
            if 0 < len(worker.calls) < depth:
                return worker
        return None

    def _can_give(self, node_id: str) -> bool:
        return node_id in self.idle and self._leases.can_take(node_id, self._cpus, self.step)

    def _add_idle(self, worker: Worker) -> None:
        node_id = worker.node_id
        waiting = self.idle.get(node_id)
        if waiting is None:
            waiting = self.idle[node_id] = {}
            self._leases.watch(node_id, self)
        waiting[worker.worker_id] = worker
        if self._leases.can_take(node_id, self._cpus, self.step):
            self.open[node_id] = None

    def _close(self, node_id: str) -> None:
        del self.idle[node_id]
        self.open.pop(node_id, None)
        self._leases.unwatch(node_id, self)


_NOBODY: dict[int, Candidates] = {}
