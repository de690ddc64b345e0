"""The workers of a step that may take a call, found without looking at all the others."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.leases import Leases
    from curator_core.executors.streaming.engine.model import Worker

__all__ = ["Candidates"]


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
