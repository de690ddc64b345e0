"""Which worker gets which tasks next: downstream first, within what is free and what there is room for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import PullSources, ResumeCall, RunCall
from curator_core.executors.streaming.engine.model import Call

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker
    from curator_core.executors.streaming.engine.recovery import Recovery
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Dispatcher"]


class Dispatcher:
    """Hands out calls.

    A worker keeps its lease as long as it has calls. So where idle workers of a later step wait for a CPU, a worker of
    an earlier step is sent no further call and has to give way when it is done: one worker for each call that waits.
    A step that has no more than its share of the CPUs keeps them, because passing a lease on costs a moment of it.

    A step whose workers need several CPUs could wait forever for them to become free at the same time. So nodes are
    reserved for it, where earlier steps get nothing until it has what it needs.
    """

    def __init__(self, board: Board, recovery: Recovery) -> None:
        self._board = board
        self._tuning = board.tuning
        self._recovery = recovery
        self._backwards = board.steps[::-1]
        min_cpus = min((step.spec.cpus for step in board.steps if step.spec.cpus), default=0.0)
        for step in board.steps:
            step.is_large = step.spec.cpus > min_cpus

    def dispatch(self, now: float) -> None:
        """Give work to every worker that can take some, the last step first."""
        is_batch = self._board.is_unbounded
        for step in self._backwards:
            if is_batch and not self._board.may_run(step):
                continue
            if step.suspended:
                self._resume(step, now)
            if step.urgent:
                self._run_urgent(step, now)
            elif step.queued_tasks and (step.candidates.open or step.candidates.busy):
                self._run_queued(step, now)
            if step.is_large:
                self._reserve_for(step)
        self._pull()

    def _run_queued(self, step: StepState, now: float) -> None:
        """Hand out what is queued."""
        candidates = step.candidates
        while step.queued_tasks:
            node_id = candidates.open_node(step.next_node) if candidates.open else None
            if node_id is None and not candidates.busy:
                return
            if not self._has_enough(step) or not self._board.has_room_behind(step):
                return
            worker = self._busy_worker(step) if node_id is None else candidates.pop_idle(node_id)
            if worker is None:
                return
            call = Call(self._board.next_id(), step.index, step.take(self._size(step)))
            self._send(worker, step, call, now)

    def _waiting_calls(self, step: StepState) -> int:
        """Return how many calls a step could run besides if its idle workers had CPUs."""
        urgent = sum(map(_has_inputs, step.urgent)) if step.urgent else 0
        if urgent:
            return urgent
        if not self._has_enough(step) or not self._board.has_room_behind(step):
            return 0
        return -(-step.queued_tasks // self._size(step))

    def _busy_worker(self, step: StepState) -> Worker | None:
        """Return a worker that should have another call behind the one it runs."""
        if step.queued_tasks < step.min_behind and self._are_more_coming(step):
            return None  # it would be a small one
        while (worker := step.candidates.pop_busy(step.depth)) is not None:
            if not self._gives_way(worker, step):
                return worker
        return None

    def _resume(self, step: StepState, now: float) -> None:
        """Resume interrupted calls, some at a time; those that cannot resume go to the end of the queue."""
        for worker in list(itertools.islice(step.suspended.values(), self._tuning.resumed_at_once)):
            if not self._board.has_room_behind(step):
                return
            if worker.calls:
                continue
            call = step.suspended.pop(worker.worker_id).suspended
            assert call is not None
            if not self._board.leases.can_take(worker.node_id, step.spec.cpus, step.index):
                step.suspended[worker.worker_id] = worker
                self._board.leases.reserve(worker.node_id, step.index)
                continue
            worker.suspended = None
            self._board.book(worker, step, call, now)
            self._board.actions.append(ResumeCall(worker.worker_id, call))

    def _run_urgent(self, step: StepState, now: float) -> None:
        """Run suspects and replays, each alone on an idle worker. Until all have one, nothing else is handed out."""
        for _ in range(len(step.urgent)):
            if not _has_inputs(step.urgent[0]):
                step.urgent.rotate(-1)  # its own inputs are still being made again
                continue
            node_id = step.candidates.open_node(step.next_node)
            if node_id is None and self._drop_suspended(step):
                node_id = step.candidates.open_node(step.next_node)
            if node_id is None:
                return
            worker = step.candidates.pop_idle(node_id)
            worker.is_alone = True
            self._send(worker, step, step.urgent.popleft(), now)
        if step.queued_tasks:
            self._run_queued(step, now)

    def _drop_suspended(self, step: StepState) -> bool:
        """Free a worker for urgent calls where each has an interrupted one that waits for room behind it.

        There may be no room until the urgent calls are done: tasks that wait for a lost chunk take it. The call that is
        dropped is repeated behind them, without the outputs that were passed on.
        """
        ready = [worker for worker in step.workers.values() if worker.phase == "ready"]
        if not ready or len(ready) < step.live_workers or self._board.has_room_behind(step):
            return False
        if any(worker.suspended is None or worker.calls for worker in ready):
            return False
        self._recovery.suspect(step, self._board.drop_suspended(ready[0], step), "node")
        return True

    def _send(self, worker: Worker, step: StepState, call: Call, now: float) -> None:
        self._board.book(worker, step, call, now)
        step.list_worker(worker)
        call.drops_suspended, worker.drops_suspended = worker.drops_suspended, False
        self._board.actions.append(RunCall(worker.worker_id, call))

    def _size(self, step: StepState) -> int:
        """Return the size of the next call: all ready workers get a part of the queue, but not in crumbs.

        The last tasks go in ever smaller calls: the steps further down can begin, and all workers end together.
        """
        size, batch = step.call_size, step.spec.batch_size
        if size <= batch:
            return size
        fair, min_size = -(-step.queued_tasks // step.working), step.min_size
        if self._board.upstream_ended(step):
            fair, min_size = -(-fair // self._tuning.last_calls), step.min_at_end
        return max(1, min(size, -(-max(fair, min_size) // batch) * batch))

    def _has_enough(self, step: StepState) -> bool:
        """Return whether there is a full batch, or all there will be before this one is processed."""
        if not step.queued_tasks:
            return False
        return step.queued_tasks >= step.spec.batch_size or not self._are_more_coming(step)

    def _are_more_coming(self, step: StepState) -> bool:
        if self._board.is_pulling:
            return True
        return any(each.running_calls for each in self._board.steps[: step.index])

    # Who gives way to whom

    def _gives_way(self, worker: Worker, step: StepState) -> bool:
        """Return whether a worker must not have another call behind those it has, and remember for whose sake."""
        if not step.spec.cpus:
            return False
        later = self._board.leases.reserved_for(worker.node_id)
        if later is None or later < step.index or (later == step.index and not step.suspended):
            has_too_many = not step.holds if step.share is None else step.leases > step.share
            later = self._waiting_step(worker.node_id, step) if has_too_many else None
        if later is None:
            return False
        worker.yields_to = later
        self._board.steps[later].promised_calls += 1
        return True

    def _reserve_for(self, step: StepState) -> None:
        """Keep nodes free for a step whose workers need several CPUs at once, as long as it waits for them."""
        calls = self._waiting_calls(step)
        if not calls:
            self._board.leases.unreserve_all(step.index)
            return
        tuning = self._tuning
        most = min(calls, max(tuning.min_reserved_nodes, step.ready_workers // tuning.workers_per_reserved_node))
        if self._board.leases.reservations(step.index) < most:
            for node_id in list(itertools.islice(step.candidates.idle, most)):
                self._board.leases.reserve(node_id, step.index)

    def _waiting_step(self, node_id: str, step: StepState) -> int | None:
        for index in self._board.leases.waiting_at(node_id):
            if index > step.index:
                later = self._board.steps[index]
                if self._waiting_calls(later) > later.promised_calls:
                    return index
        return None

    # Source tasks

    def _pull(self) -> None:
        """Ask for more source tasks when the first queue has room."""
        board = self._board
        if board.is_pulling or board.sources_ended:
            return
        first = board.steps[0]
        a_round = first.round_tasks
        room = self._tuning.queue_rounds * a_round - first.queued_tasks
        if room < max(1, a_round // 2):  # not by ones
            return
        if first.uncommitted_bytes > 0 and first.uncommitted_bytes + first.task_bytes > board.queue_bytes:
            return
        count = min(room, max(first.call_size, first.ready_workers))
        if first.task_bytes:
            spare = (board.queue_bytes - first.uncommitted_bytes) / first.task_bytes
            count = min(count, int(spare))
        board.is_pulling = True
        board.actions.append(PullSources(max(1, count)))


def _has_inputs(call: Call) -> bool:
    """Return whether none of a call's inputs has to be made again first."""
    return all(each.chunk.handle is not None for each in call.inputs)
