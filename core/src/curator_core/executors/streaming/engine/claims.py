"""CPUs that later steps are waiting for: earlier steps give way to them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Claims"]


class Claims:
    """Who gives way to whom.

    A worker keeps its lease as long as it has calls. So where idle workers of a later step wait for a CPU, a worker of
    an earlier step is sent no further call and has to give way when it is done: one worker for each call that waits.
    A step that has no more than its share of the CPUs keeps them, because passing a lease on costs a moment of it.

    A step whose workers need several CPUs could wait forever for them to become free at the same time. So nodes are
    reserved for it, where earlier steps get nothing until it has what it needs.

    Args:
        board: The state of the run.
        waiting_calls: Tells how many more calls a step could run if its idle workers had CPUs.
    """

    def __init__(self, board: Board, waiting_calls: Callable[[StepState], int]) -> None:
        self._steps = board.steps
        self._leases = board.leases
        self._tuning = board.tuning
        self._waiting_calls = waiting_calls
        min_cpus = min((step.spec.cpus for step in board.steps if step.spec.cpus), default=0.0)
        for step in board.steps:
            step.is_large = step.spec.cpus > min_cpus

    def gives_way(self, worker: Worker, step: StepState) -> bool:
        """Return whether a worker must not have another call behind those it has, and remember for whose sake."""
        if not step.spec.cpus:
            return False
        later = self._leases.reserved_for(worker.node_id)
        if later is None or later < step.index or (later == step.index and not step.suspended):
            later = self._waiting_step(worker.node_id, step) if self._has_too_many(step) else None
        if later is None:
            return False
        worker.yields_to = later
        self._steps[later].promised_calls += 1
        return True

    def reserve_for(self, step: StepState) -> None:
        """Keep nodes free for a step whose workers need several CPUs at once, as long as it waits for them."""
        calls = self._waiting_calls(step)
        if not calls:
            self._leases.unreserve_all(step.index)
            return
        tuning = self._tuning
        wanted = step.ready_workers // tuning.workers_per_reserved_node
        max_reserved = min(calls, max(tuning.min_reserved_nodes, wanted))
        if self._leases.reservations(step.index) < max_reserved:
            for node_id in list(itertools.islice(step.candidates.idle, max_reserved)):
                self._leases.reserve(node_id, step.index)

    def _has_too_many(self, step: StepState) -> bool:
        if step.share is None:
            return not step.holds
        return step.leases > step.share

    def _waiting_step(self, node_id: str, step: StepState) -> int | None:
        for index in self._leases.waiting_at(node_id):
            if index > step.index:
                later = self._steps[index]
                if self._waiting_calls(later) > later.promised_calls:
                    return index
        return None
