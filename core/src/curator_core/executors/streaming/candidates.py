"""The workers of a step that may take a call, found without looking at all the others."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.executors.streaming.leases import Leases
    from curator_core.executors.streaming.model import Worker

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
        self._idle: dict[str, dict[int, Worker]] = {}
        self._open: dict[str, None] = {}
        self._busy: OrderedDict[int, Worker] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._open or self._busy)

    @property
    def idle_nodes(self) -> dict[str, dict[int, Worker]]:
        """Nodes with idle workers."""
        return self._idle

    def update(self, worker: Worker, depth: int) -> None:
        """List a worker as what it is now. ``depth`` is how many calls a worker may have."""
        if worker.phase != "ready" or worker.is_alone or worker.suspended is not None or worker.yields_to is not None:
            self.discard(worker)
        elif not worker.calls:
            self._busy.pop(worker.worker_id, None)
            self._add_idle(worker)
        elif len(worker.calls) < depth:
            self._busy[worker.worker_id] = worker
        else:
            self._busy.pop(worker.worker_id, None)

    def discard(self, worker: Worker) -> None:
        """Strike a worker off."""
        self._busy.pop(worker.worker_id, None)
        waiting = self._idle.get(worker.node_id)
        if waiting is not None and waiting.pop(worker.worker_id, None) is not None and not waiting:
            self._close(worker.node_id)

    def cpus_are_back(self, node_id: str) -> None:
        """Note that a node where workers wait may have CPUs for them now."""
        self._open[node_id] = None

    def pop_idle(self, near: str | None) -> Worker | None:
        """Take an idle worker off the list whose CPUs are free, near the next tasks if possible."""
        if near is not None and near in self._open:
            worker = self._pop_at(near)
            if worker is not None:
                return worker
        while self._open:
            node_id, _ = self._open.popitem()
            worker = self._pop_at(node_id)
            if worker is not None:
                return worker
        return None

    def pop_busy(self, depth: int) -> Worker | None:
        """Take the worker off the list that has had nothing waiting for longest."""
        while self._busy:
            _, worker = self._busy.popitem(last=False)
            if 0 < len(worker.calls) < depth:
                return worker
        return None

    def _pop_at(self, node_id: str) -> Worker | None:
        waiting = self._idle.get(node_id)
        if not waiting or not self._leases.can_take(node_id, self._cpus, self.step):
            self._open.pop(node_id, None)
            return None
        _, worker = waiting.popitem()
        if waiting:
            self._open[node_id] = None
        else:
            self._close(node_id)
        return worker

    def _add_idle(self, worker: Worker) -> None:
        node_id = worker.node_id
        waiting = self._idle.get(node_id)
        if waiting is None:
            waiting = self._idle[node_id] = {}
            self._leases.watch(node_id, self)
        waiting[worker.worker_id] = worker
        if self._leases.can_take(node_id, self._cpus, self.step):
            self._open[node_id] = None

    def _close(self, node_id: str) -> None:
        del self._idle[node_id]
        self._open.pop(node_id, None)
        self._leases.unwatch(node_id, self)
