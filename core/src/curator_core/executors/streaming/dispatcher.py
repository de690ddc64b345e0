"""Which worker gets which tasks next: downstream first, within what is free and what there is room for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curator_core.executors.streaming.actions import PullSources, ResumeCall, RunCall
from curator_core.executors.streaming.claims import Claims

if TYPE_CHECKING:
    from curator_core.executors.streaming.board import Board
    from curator_core.executors.streaming.model import Call, Worker
    from curator_core.executors.streaming.step_state import StepState

__all__ = ["Dispatcher"]

_ROUNDS = 3  # calls that the workers on either side of a queue may have waiting in it


class Dispatcher:
    """Hands out calls. Works on the board that the scheduler keeps."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def dispatch(self, now: float) -> None:
        """Give work to every worker that can take some, the last step first."""
        claims = Claims()
        for step in reversed(self._board.steps):
            if step.has_work and self._board.may_run(step):
                self._feed(step, claims, now)
        self._pull()

    def _feed(self, step: StepState, claims: Claims, now: float) -> None:
        if step.suspended_calls:
            self._resume(step, claims, now)
        if step.urgent:
            self._run_urgent(step, claims, now)
        while step.has_candidates and self._has_enough(step) and self.has_room_behind(step):
            worker = step.pop_idle(self._board.leases, claims)
            if worker is None and self._is_worth_prefetching(step):
                worker = step.pop_busy(claims)
            if worker is None:
                if step.spec.cpus:
                    claims.claim_anywhere(step, math.ceil(step.queued_tasks / self._size(step)))
                return
            inputs = step.take(self._size(step))
            self._send(worker, step, self._board.new_call(step, inputs), now)

    def _resume(self, step: StepState, claims: Claims, now: float) -> None:
        for worker in list(step.workers.values()):
            if worker.suspended is None or worker.calls or not self.has_room_behind(step):
                continue
            if claims.block(worker.node_id) or not self._board.lease(worker, step):
                claims.claim(worker.node_id)
                continue
            call, worker.suspended = worker.suspended, None
            step.suspended_calls -= 1
            self._board.book(worker, step, call, now)
            self._board.actions.append(ResumeCall(worker.worker_id, call))

    def _run_urgent(self, step: StepState, claims: Claims, now: float) -> None:
        """Run suspects and replays, each alone on an idle worker."""
        for _ in range(len(step.urgent)):
            if any(each.chunk.handle is None for each in step.urgent[0].inputs):
                step.urgent.rotate(-1)  # its own inputs are still being made again
                continue
            worker = step.pop_idle(self._board.leases, claims)
            if worker is None:
                claims.claim_anywhere(step, len(step.urgent))
                return
            call = step.urgent.popleft()
            worker.is_alone = True
            self._send(worker, step, call, now)

    def _send(self, worker: Worker, step: StepState, call: Call, now: float) -> None:
        if not worker.calls:
            leased = self._board.lease(worker, step)
            assert leased
        self._board.book(worker, step, call, now)
        step.list_worker(worker)
        if call.target is not None:
            action = RunCall(worker.worker_id, call, skip=call.target.offset, limit=call.target.count)
        else:
            action = RunCall(worker.worker_id, call, skip=call.emitted)
        self._board.actions.append(action)

    def _size(self, step: StepState) -> int:
        """Return the size of the next call: all ready workers get a part of the queue, but not in crumbs."""
        batch = step.spec.batch_size
        fair = max(step.least_size, math.ceil(step.queued_tasks / max(1, step.ready_workers)))
        fair = math.ceil(fair / batch) * batch
        return max(1, min(step.call_size, fair))

    def _is_worth_prefetching(self, step: StepState) -> bool:
        """Return whether a worker that is busy should get another call: not a small one, if more tasks are coming."""
        if step.queued_tasks >= step.least_size:
            return True
        before = self._board.steps[: step.index]
        return not self._board.is_pulling and not any(each.running_calls for each in before)

    def _has_enough(self, step: StepState) -> bool:
        """Return whether there is a full batch, or all there will be before this one is processed."""
        if not step.queued_tasks:
            return False
        if step.queued_tasks >= step.spec.batch_size:
            return True
        before = self._board.steps[: step.index]
        return not self._board.is_pulling and not any(each.running_calls for each in before)

    def has_room_behind(self, step: StepState) -> bool:
        """Return whether a call's outputs fit into the queue of the next step.

        By count, the bound lets both the workers before the queue and those behind it have a few calls waiting: a bound
        made for one fast consumer would throttle many slow producers. By bytes, a step with an empty queue behind it
        may always run one call, so that there is progress whatever the sizes.
        """
        if self._board.is_unbounded or step.index + 1 == len(self._board.steps):
            return True
        behind = self._board.steps[step.index + 1]
        expected_bytes = behind.uncommitted_bytes + step.expected_bytes
        if expected_bytes and expected_bytes + step.call_bytes > self._board.queue_bytes:
            return False
        return behind.queued_tasks + step.expected_tasks < self._most_queued(behind)

    def _most_queued(self, step: StepState) -> float:
        if step.index and not step.ready_workers:
            return math.inf  # while its workers start, there is nothing better to do than to work ahead, within bytes
        consumers = max(1, len(step.workers)) * max(step.call_size, step.spec.batch_size)
        if step.index == 0:
            return _ROUNDS * consumers
        before = self._board.steps[step.index - 1]
        producers = max(1, len(before.workers)) * before.call_size * max(1.0, before.estimate.fan_out)
        return _ROUNDS * max(consumers, producers)

    def _pull(self) -> None:
        """Ask for more source tasks when the first queue has room."""
        board = self._board
        if board.is_pulling or board.sources_ended:
            return
        first = board.steps[0]
        room = self._most_queued(first) - first.queued_tasks
        is_full = first.uncommitted_bytes > 0 and first.uncommitted_bytes + first.task_bytes > board.queue_bytes
        if is_full or room < max(1, min(first.call_size, _ROUNDS)):
            return
        count = max(1, min(int(room), first.call_size))
        if first.task_bytes:
            spare = (board.queue_bytes - first.uncommitted_bytes) / first.task_bytes
            count = max(1, min(count, int(spare)))
        board.is_pulling = True
        board.actions.append(PullSources(count))
