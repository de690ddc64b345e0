"""The scheduler: events in, actions out. It knows neither Ray nor a clock, so a simulator can drive it as well.

Every event method brings the board up to date and hands out what has become possible; the caller collects the actions
with :meth:`Scheduler.take_actions` and reports what came of them as further events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import Deliver
from curator_core.executors.streaming.engine.board import Board
from curator_core.executors.streaming.engine.chunk_sizing import call_target_s
from curator_core.executors.streaming.engine.deadlines import Deadlines
from curator_core.executors.streaming.engine.dispatcher import Dispatcher
from curator_core.executors.streaming.engine.model import Call, Chunk, cut
from curator_core.executors.streaming.engine.pools import Pools
from curator_core.executors.streaming.engine.recovery import Recovery
from curator_core.executors.streaming.engine.setup_failures import SetupFailures
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from curator_core.executors.streaming.engine.actions import Action, GiveUp
    from curator_core.executors.streaming.engine.model import CallResult, LossCause, Node, StepSpec, Worker
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Scheduler"]


class Scheduler:
    """Runs the steps of a plan over tasks that the caller pulls from a source.

    Args:
        steps: The steps, in order.
        nodes: The nodes that may be used.
        memory_limit_bytes: Bound on the bytes in all queues together.
        is_batch: Whether a step begins only when the one before has finished; queues are then unbounded.
        keep_sources: Whether source chunks are kept until all that was made of them is done, to replay from: needed
            where there is a node besides the driver's. A node that joins switches it on.
        tuning: The numbers to decide by.
    """

    def __init__(
        self,
        steps: Sequence[StepSpec],
        nodes: Sequence[Node],
        *,
        memory_limit_bytes: float = 1 << 30,
        is_batch: bool = False,
        keep_sources: bool = False,
        tuning: Tuning = Tuning(),
    ) -> None:
        self._tuning = tuning
        self.board = Board(
            steps,
            nodes,
            memory_limit_bytes=memory_limit_bytes,
            is_batch=is_batch,
            keep_sources=keep_sources,
            tuning=tuning,
        )
        self._recovery = Recovery(self.board)
        self._dispatcher = Dispatcher(self.board, self._recovery)
        self._pools = Pools(self.board)
        self._setups = SetupFailures(self.board)
        self._deadlines = Deadlines(self.board)
        self._next_balance_s = 0.0
        self._balanced_s = -1.0
        self._is_stopping = False
        self._first_output_s: float | None = None
        self._first_return_s: float | None = None
        self._next_aim_s = 0.0

    # State

    @property
    def is_finished(self) -> bool:
        """Whether every task has come to its end."""
        board = self.board
        if board.is_pulling or not board.sources_ended or self._recovery.is_waiting:
            return False
        return not any(step.has_work for step in board.steps)

    @property
    def is_stuck(self) -> bool:
        """Whether nothing is under way that could lead to another event, although there is work left."""
        board = self.board
        under_way = board.is_pulling or board.calls or any(each.phase != "ready" for each in board.workers.values())
        return not self.is_finished and not under_way

    def take_actions(self) -> list[Action]:
        """Return what is to be done, and forget it."""
        actions, self.board.actions = self.board.actions, []
        return actions

    # Events

    def tick(self, now: float) -> None:
        """Let time pass: size the pools and hand out work."""
        # With no call under way nothing happens until a pool changes, as between two steps that take turns.
        if now >= self._next_balance_s or (not self.board.calls and now > self._balanced_s):
            self._balanced_s = now
            self._next_balance_s = now + self._tuning.balance_interval_s
            self._pools.balance(now)
        if now >= self._next_aim_s and self._first_return_s is not None:
            self._aim(now, now - self._first_return_s)
        self._deadlines.check(now)
        self._dispatcher.dispatch(now)

    def source_chunk(self, count: int, size_bytes: int, handle: Any, now: float, *, are_the_last: bool = False) -> None:
        """Take in tasks from the source."""
        self.board.is_pulling = False
        if count:
            self.board.steps[0].push(Chunk(self.board.next_id(), count, size_bytes, handle, left=count))
        if are_the_last:
            self.source_ended(now)
        else:
            self.tick(now)

    def source_ended(self, now: float) -> None:
        """Note that the source has no more tasks."""
        self.board.is_pulling = False
        self.board.sources_ended = True
        self._note_ends(now)
        self.tick(now)

    def stop(self, now: float) -> None:
        """Take no more from the source, and begin nothing; what is in hand goes on to its end."""
        self._is_stopping = True
        self.board.sources_ended = True
        for step in self.board.steps:
            self.board.commit(step, step.take(step.queued_tasks))
            if not step.spec.is_source:
                break  # what waits in front of it are whole source tasks; behind it are parts of those in hand
            for worker in list(step.suspended.values()):
                self._abandon_suspended(worker, step)
        self.tick(now)

    def worker_ready(self, worker_id: int, now: float) -> None:
        """Note that a worker can take calls."""
        worker = self.board.workers[worker_id]
        self._pools.ready(worker, now)
        self._setups.succeeded(worker)
        if self._first_output_s is not None and now - self._first_output_s < self._tuning.warm_up_s:
            self._begin_measuring(now)
        self.tick(now)

    def setup_failed(self, worker_id: int, error: Exception, now: float) -> None:
        """Note that a worker could not be set up: another is started, elsewhere if it fails here again and again.

        Raises:
            Exception: The error, where the step has no other worker and none can be set up anywhere.
        """
        worker = self.board.workers[worker_id]
        self._setups.failed(worker, error, now)
        self._remove(worker, now)

    def worker_stopped(self, worker_id: int, now: float) -> None:
        """Note that a worker has ended as asked; what it held is free."""
        self._remove(self.board.workers[worker_id], now)

    def worker_lost(self, worker_id: int, now: float, *, cause: LossCause = "died") -> None:
        """Note that a worker has died; its calls are suspects.

        Raises:
            StageError: Workers of this step die as often as they are started.
        """
        worker = self.board.workers[worker_id]
        step = self.board.steps[worker.step]
        if worker.phase == "starting" and cause != "node":
            step.start_deaths += 1
            # Where one has been set up, it is not the stage's fault that others die: try for longer.
            tuning = self._tuning
            if step.start_deaths >= (tuning.max_first_deaths if step.boot_s is None else tuning.max_start_deaths):
                raise StageError(
                    f"workers of {step.spec.name!r} died {step.start_deaths} times in a row while they were set up",
                    fix="look for out-of-memory kills or crashes of native code in the stage's setup",
                )
        elif cause == "died" and not worker.has_work:
            self._recovery.lost_idle_worker()
        calls = list(worker.calls.values())
        for call in calls:
            self.board.unbook(call, now)
        if worker.suspended is not None:
            calls.append(worker.suspended)
            del step.suspended[worker_id]
            worker.suspended = None
        for call in calls:
            self._recovery.suspect(step, call, cause)
        self._remove(worker, now)

    def call_done(self, call_id: int, result: CallResult, now: float) -> None:
        """Take in a call's outputs, or a part of them."""
        board = self.board
        call = board.calls[call_id]
        worker, step = board.unbook(call, now)
        board.usage[step.index].worked(result.service_s, now)
        if self._first_return_s is None:
            self._first_return_s = now
        if call.kind == "replay":
            self._recovery.restored(call, result)
        else:
            self._take_in(step, worker, call, result, now)
        if worker.phase == "ready" and step.wears_out(worker):
            self._pools.replace(worker, now)
        else:
            self._pools.stop_if_drained(worker)
        step.list_worker(worker)
        self._note_ends(now)
        self.tick(now)

    def inputs_lost(self, call_id: int, lost: Sequence[Chunk], now: float) -> None:
        """Note that a call could not start because chunks are gone (with the node that had them)."""
        call = self.board.calls[call_id]
        worker, step = self.board.unbook(call, now)
        worker.drops_suspended |= call.drops_suspended  # it has not heard of the call
        self._recovery.lost_inputs(step, call, list(lost))
        self._pools.stop_if_drained(worker)
        step.list_worker(worker)
        self.tick(now)

    def output_lost(self, chunk: Chunk, now: float) -> None:
        """Note that delivered outputs were gone before they could be fetched."""
        self._recovery.lost_output(chunk)
        self.tick(now)

    def suspect_lost(self, action: GiveUp, now: float) -> None:
        """Note that a task was gone before it could be given up."""
        self._recovery.lost_suspect(action)
        self.tick(now)

    def node_added(self, node: Node, now: float) -> None:
        """Use another node, which may be lost again with all that is made there."""
        self.board.keep_sources = True
        self.board.leases.add_node(node)
        self.board.placement.add_node(node)
        self.tick(now)

    def node_grown(self, node: Node, now: float) -> None:
        """Use GPUs, memory or custom resources of a node that had none for the run."""
        self.board.placement.grow_node(node)
        self.tick(now)

    def node_removed(self, node_id: str, now: float) -> None:
        """Stop using a node. Its workers are lost with it, also those without a call, of which nothing else tells.

        Raises:
            Exception: What the last setup raised of a step that has no worker, where none can be set up anywhere else.
        """
        self.board.leases.remove_node(node_id)
        self.board.placement.remove_node(node_id)
        for worker in [each for each in self.board.workers.values() if each.node_id == node_id]:
            self.worker_lost(worker.worker_id, now, cause="node")
        for step in self.board.steps:
            self._setups.review(step)
        self.tick(now)

    # Workers

    def _aim(self, now: float, elapsed_s: float) -> None:
        """Size calls by how long the run has lasted, the more often the younger it is."""
        self._next_aim_s = now + min(self._tuning.balance_interval_s, self._tuning.aim_fraction * elapsed_s)
        target_s = call_target_s(elapsed_s, self._tuning)
        for step in self.board.steps:
            step.aim_for(target_s)

    def _remove(self, worker: Worker, now: float) -> None:
        self._pools.remove(worker, now)
        self._setups.review(self.board.steps[worker.step])
        self._pools.start_missing(now)
        # Many workers may end at the same time: decide once for all of them.
        self._next_balance_s = min(self._next_balance_s, self._balanced_s + self._tuning.min_balance_interval_s)
        self.tick(now)

    # Calls

    def _take_in(self, step: StepState, worker: Worker, call: Call, result: CallResult, now: float) -> None:
        board = self.board
        if result.consumed < call.tasks:
            assert not call.emitted, "a repeated call takes the input whose outputs were passed on"
            call.inputs, rest = cut(call.inputs, result.consumed)
            call.tasks = result.consumed
            if self._is_stopping and step.spec.is_source:
                board.commit(step, rest)
            else:
                step.push_back(rest)
        if result.outputs:
            chunk = board.output_chunk(call, result)
            call.emitted += result.outputs
            self._pass_on(step, chunk, now)
        step.learn(call, result)
        if result.is_done:
            if result.consumed:
                self._recovery.came_through(call)
            board.commit(step, call.inputs)
            return
        worker.suspended = self._open_rest(step, call, result) if result.completed else call
        step.suspended[worker.worker_id] = worker
        if self._is_stopping and step.spec.is_source:
            self._abandon_suspended(worker, step)

    def _open_rest(self, step: StepState, call: Call, result: CallResult) -> Call:
        """Commit the complete inputs of an interrupted call; return the call of the one that is not.

        Only that one is repeated, and suspected, if the worker dies; it is not alone yet, since nobody notes how far it
        comes. ``call`` stays as it is: it says how to make the outputs again that were passed on so far.
        """
        complete, last = cut(call.inputs, result.completed)
        self.board.commit(step, complete)
        call_id = self.board.next_id()
        return Call(call_id, step.index, last, cause=call.cause, emitted=result.open_outputs)

    def _pass_on(self, step: StepState, chunk: Chunk, now: float) -> None:
        board = self.board
        if step.index + 1 < len(board.steps):
            board.steps[step.index + 1].push(chunk)
            return
        board.actions.append(Deliver(chunk))
        if self._first_output_s is None:
            self._first_output_s = now
            self._begin_measuring(now)

    def _abandon_suspended(self, worker: Worker, step: StepState) -> None:
        self.board.commit(step, self.board.drop_suspended(worker, step).inputs)

    def _begin_measuring(self, now: float) -> None:
        for each in self.board.usage:
            each.begin(now)

    def _note_ends(self, now: float) -> None:
        """When a step gets no more input, its workers run idle for a good reason: stop measuring how busy they are."""
        if not self.board.sources_ended:
            return
        for step, usage in zip(self.board.steps, self.board.usage, strict=True):
            if step.queued_tasks:
                return
            usage.end(now)
            if step.has_work:
                return  # there is more to come for those behind it
