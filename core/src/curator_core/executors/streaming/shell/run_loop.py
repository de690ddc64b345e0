"""Carry out a run: wait for the next event, tell the scheduler, do what it says, pass outputs on."""

from __future__ import annotations

import queue
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import source_id
from curator_core.executors.ray import import_ray
from curator_core.executors.streaming.engine.actions import (
    Deliver,
    Forget,
    GiveUp,
    KillWorker,
    PullSources,
    ResumeCall,
    RunCall,
    StartWorker,
    StopWorker,
)
from curator_core.executors.streaming.engine.model import CallResult
from curator_core.executors.streaming.shell.chunk_codec import decode, fetch, keep
from curator_core.executors.streaming.shell.losses import Losses
from curator_core.executors.streaming.shell.source_thread import SourceChunk, SourceThread
from curator_core.executors.streaming.shell.worker_pool import CallEnded, WorkerEnded, WorkerStarted
from curator_core.run.source_order import SourceOrder
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator_core.authoring.tasks import Task
    from curator_core.executors.streaming.engine.model import Chunk
    from curator_core.executors.streaming.engine.scheduler import Scheduler
    from curator_core.executors.streaming.shell.node_watch import NodeWatch
    from curator_core.executors.streaming.shell.session import Session
    from curator_core.executors.streaming.shell.worker import CallReport
    from curator_core.executors.streaming.shell.worker_pool import WorkerPool

__all__ = ["RunLoop"]


class RunLoop:
    """The run in the driver.

    Args:
        scheduler: Decides.
        pool: Acts, and reports in ``events``.
        events: Where the source reports, too.
        tasks: The source tasks, numbered.
        session: What is run.
        nodes: Tells of nodes that come and go.
        run_id: Number of the run.
        on_tick: Called after every wait, at least a few times a second: for those who watch.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        pool: WorkerPool,
        events: queue.SimpleQueue[Any],
        tasks: Iterator[Task[Any]],
        session: Session,
        *,
        nodes: NodeWatch,
        run_id: str,
        on_tick: Callable[[], None],
    ) -> None:
        self._ray = import_ray()
        self._scheduler = scheduler
        self._tuning = tuning = scheduler.board.tuning
        self._pool = pool
        self._events = events
        self._source = SourceThread(tasks, partial(keep, inline_bytes=tuning.inline_bytes), events, tuning)
        self._state = session.state
        self._on_tick = on_tick
        self._ready: deque[Task[Any]] = deque()
        self._losses = Losses(scheduler, pool, session, nodes, run_id)
        self._store_bytes = 0
        self._started_s = time.monotonic()
        self._is_stopping = False
        self.source_order = SourceOrder()  # of the source tasks, as they came
        self._stuck_since_s: float | None = None
        self._taken_by: dict[type, Callable[[Any], None]] = {
            CallEnded: self._call_ended,
            SourceChunk: self._source_chunk,
            WorkerStarted: self._worker_started,
            WorkerEnded: self._worker_ended,
        }
        self._done_by: dict[type, Callable[[Any], None]] = {
            RunCall: self._run,
            Deliver: self._deliver,
            Forget: self._forget_done,
            PullSources: lambda action: self._source.pull(action.count),
            StartWorker: pool.start,
            StopWorker: self._stop,
            ResumeCall: self._resume,
            KillWorker: lambda action: self._losses.kill_overdue(action, self._now),
            GiveUp: lambda action: self._losses.give_up(action, self._now),
        }

    @property
    def _now(self) -> float:
        return time.monotonic() - self._started_s

    def outputs(self) -> Iterator[Task[Any]]:
        """Yield the outputs as they finish."""
        self._scheduler.tick(self._now)
        while True:
            self._act()
            while self._ready:
                yield self._ready.popleft()
            if self._scheduler.is_finished:
                return
            if self._is_stuck_for_good():
                raise StageError(
                    f"the run cannot continue: {self._describe_standstill()}",
                    fix="give the executor more CPUs, GPUs or memory, or ask for less in the stages",
                )
            self._wait()
            self._losses.look_at_nodes(self._now)
            self._on_tick()
            if self._state.stop_requested.is_set() and not self._is_stopping:
                self._is_stopping = True
                self._scheduler.stop(self._now)

    def _is_stuck_for_good(self) -> bool:
        """Return whether nothing has been under way for some time: the next turn of a step may be decided later."""
        if not self._scheduler.is_stuck:
            self._stuck_since_s = None
            return False
        if self._stuck_since_s is None:
            self._stuck_since_s = self._now
        return self._now - self._stuck_since_s > self._tuning.stuck_s

    def close(self) -> None:
        """Stop pulling."""
        self._source.close()

    # Events

    def _wait(self) -> None:
        """Wait for one event, then take all that are there; time passes for the scheduler even without any."""
        try:
            event = self._events.get(timeout=self._tuning.balance_interval_s)
        except queue.Empty:
            self._scheduler.tick(self._now)
            return
        while True:
            self._taken_by[type(event)](event)
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                return

    def _source_chunk(self, event: SourceChunk) -> None:
        if event.error is not None:
            raise event.error
        self._note_sources(event.source_ids)
        if self._is_stopping:
            self._scheduler.source_ended(self._now)
            return
        if event.count:
            self._stored(event.size_bytes)
        self._scheduler.source_chunk(
            event.count, event.size_bytes, event.handle, self._now, are_the_last=event.has_ended
        )

    def _worker_started(self, event: WorkerStarted) -> None:
        if event.worker_id not in self._scheduler.board.workers:
            return
        error = event.answer.exception()
        if error is not None:
            self._losses.worker_failed(event.worker_id, error, self._now)
            return
        report: CallReport = event.answer.result()
        self._state.absorb(report.stats, report.quarantined)
        if report.failure is not None:
            self._losses.setup_failed(event.worker_id, report.failure.unpack(), self._now)
            return
        self._scheduler.worker_ready(event.worker_id, self._now)

    def _worker_ended(self, event: WorkerEnded) -> None:
        self._pool.kill(event.worker_id)
        if event.worker_id in self._scheduler.board.workers:
            self._scheduler.worker_stopped(event.worker_id, self._now)
        failure = None if event.answer.exception() is not None else event.answer.result()
        if failure is not None:
            raise failure.unpack()

    def _call_ended(self, event: CallEnded) -> None:
        call = event.call
        if self._scheduler.board.calls.get(call.call_id) is not call or call.worker_id != event.worker_id:
            return  # of a worker that is known to be dead
        error = event.answer.exception()
        if error is not None:
            self._losses.call_failed(event.worker_id, event.call, error, self._now)
            return
        report: CallReport = event.answer.result()
        self._state.absorb(report.stats, report.quarantined)
        if report.failure is not None:
            raise report.failure.unpack()
        if self._state.ledger is not None:
            self._state.ledger.take_in(report.sources)
        self._note_sources(report.source_ids)
        self._stored(report.size_bytes)
        result = CallResult(
            consumed=report.consumed,
            outputs=report.outputs,
            size_bytes=report.size_bytes,
            service_s=report.service_s,
            is_done=report.is_done,
            handle=event.payload,
            node_id=self._pool.node_of(event.worker_id),
            completed=report.completed,
            open_outputs=report.open_outputs,
        )
        self._scheduler.call_done(call.call_id, result, self._now)

    def _note_sources(self, task_ids: list[str] | None) -> None:
        self.source_order.extend([source_id(task_id) for task_id in task_ids or ()])

    # Actions

    def _act(self) -> None:
        """Carry out what the scheduler asks for."""
        while actions := self._scheduler.take_actions():
            for action in actions:
                self._done_by[type(action)](action)

    def _run(self, action: RunCall) -> None:
        """Send a call, unless its worker has died or some of its inputs are lost since it was decided."""
        if not self._is_current(action):
            return
        gone = [each.chunk for each in action.call.inputs if each.chunk.handle is None]
        if gone:
            self._scheduler.inputs_lost(action.call.call_id, list(dict.fromkeys(gone)), self._now)
        else:
            self._pool.run(action)

    def _is_current(self, action: RunCall | ResumeCall) -> bool:
        """Return whether a call is still to be made: its worker may have died between the decision and now."""
        call = action.call
        return self._scheduler.board.calls.get(call.call_id) is call and call.worker_id == action.worker_id

    def _resume(self, action: ResumeCall) -> None:
        if self._is_current(action):
            self._pool.resume(action)

    def _stop(self, action: StopWorker) -> None:
        if action.worker_id in self._scheduler.board.workers:
            self._pool.stop(action.worker_id)

    def _deliver(self, action: Deliver) -> None:
        try:
            payload = fetch(action.chunk.handle)
        except self._ray.exceptions.ObjectLostError:
            self._scheduler.output_lost(action.chunk, self._now)
            return
        self._ready.extend(decode(payload))
        self._forget(action.chunk)

    def _forget_done(self, action: Forget) -> None:
        if not action.chunk.pins:  # an output that was lost since the decision is made of it again
            self._forget(action.chunk)

    def _stored(self, size_bytes: int) -> None:
        """Count bytes that a chunk occupies in the object store."""
        self._store_bytes += size_bytes
        self._state.peak_object_store_bytes = max(self._state.peak_object_store_bytes, self._store_bytes)

    def _forget(self, chunk: Chunk) -> None:
        if chunk.handle is not None:
            chunk.handle = None
            self._store_bytes -= chunk.size_bytes

    def _describe_standstill(self) -> str:
        board = self._scheduler.board
        working = [step for step in board.steps if step.has_work]
        waiting = [step for step in working if not step.live_workers] or working
        return "; ".join(
            f"{step.spec.name!r} has {step.queued_tasks} tasks and no worker: one needs "
            f"{step.spec.describe()}, the largest free place has {board.placement.describe_largest(step.spec)}"
            for step in waiting
        )
