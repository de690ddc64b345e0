"""What is lost in a run: nodes, workers, calls and chunks, told to the scheduler; and tasks that end their workers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from curator_core.call.error_policy import policy_for
from curator_core.call.quarantine_record import record_for_task
from curator_core.executors.ray import import_ray
from curator_core.executors.streaming.engine.model import Node
from curator_core.executors.streaming.shell.breadcrumbs import noted_stage
from curator_core.executors.streaming.shell.chunk_codec import Payload, decode, fetch
from curator_core.values.errors import StageError, TaskTimeoutError, WorkerDiedError, WorkerMemoryError

if TYPE_CHECKING:
    from curator_core.authoring.tasks import Task
    from curator_core.executors.streaming.engine.actions import GiveUp, KillWorker
    from curator_core.executors.streaming.engine.model import Call, Chunk, LossCause, Slice
    from curator_core.executors.streaming.engine.scheduler import Scheduler
    from curator_core.executors.streaming.shell.node_watch import NodeWatch
    from curator_core.executors.streaming.shell.session import Session
    from curator_core.executors.streaming.shell.worker_pool import WorkerPool
    from curator_core.plan.fusion import Step
    from curator_core.values.errors import CuratorError

__all__ = ["Losses", "lost_chunks"]

_log = logging.getLogger(__name__)


class Losses:
    """Tells the scheduler what is lost, and applies the error policy to tasks that end their workers."""

    def __init__(self, scheduler: Scheduler, pool: WorkerPool, session: Session, nodes: NodeWatch, run_id: str) -> None:
        self._ray = import_ray()
        self._scheduler = scheduler
        self._pool = pool
        self._nodes = nodes
        self._state = session.state
        self._steps = session.steps
        self._policy = session.policy
        self._run_id = run_id
        self._lost_nodes: set[str] = set()

    def look_at_nodes(self, now: float, *, at_once: bool = False) -> None:
        """Tell the scheduler which nodes have come and gone."""
        changes = self._nodes.changes(now, at_once=at_once)
        for node in changes.joined:
            self._scheduler.node_added(Node.of(node), now)
        for node in changes.grown:
            self._scheduler.node_grown(Node.of(node), now)
        for node_id in changes.left:  # last: there may be a place now for what was there
            self._lost_nodes.add(node_id)
            for worker in self._scheduler.board.workers.values():
                if worker.node_id == node_id:
                    self._pool.kill(worker.worker_id)
            self._scheduler.node_removed(node_id, now)

    def setup_failed(self, worker_id: int, error: CuratorError, now: float) -> None:
        """End a worker whose stages could not be set up."""
        step = self._steps[self._scheduler.board.workers[worker_id].step]
        node_id = self._pool.node_of(worker_id)
        self._state.stats_of(step.stages[0].stage.name).counters["failed setups"] += 1
        self._pool.stop(worker_id)  # stages of the step before the one that failed are set up
        self._scheduler.setup_failed(worker_id, error, now)
        _log.warning("a worker of %r could not be set up on node %s: %s", step.name, node_id, error.message)

    def call_failed(self, worker_id: int, call: Call, error: BaseException, now: float) -> None:
        """Tell the scheduler that a call has not come back: its worker or its inputs are lost."""
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.RayActorError | exceptions.OutOfMemoryError):
            self.worker_failed(worker_id, error, now)
            return
        if isinstance(error, exceptions.ObjectLostError | exceptions.ObjectFetchTimedOutError):
            lost = lost_chunks([each.chunk for each in call.inputs], error)
            self._scheduler.inputs_lost(call.call_id, lost, now)
            return
        raise StageError(f"a call of {self._steps[call.step].name!r} failed in Ray: {error}") from error

    def worker_failed(self, worker_id: int, error: BaseException, now: float) -> None:
        """Tell the scheduler that a worker is lost, and why."""
        exceptions = self._ray.exceptions
        # Ray cannot place a worker on a node that is gone between the decision and the start.
        expected = exceptions.RayActorError | exceptions.OutOfMemoryError | exceptions.ActorUnschedulableError
        if not isinstance(error, expected):
            raise StageError(f"a worker could not be started: {error}") from error
        node_id = self._pool.node_of(worker_id)
        self._pool.kill(worker_id)
        self.look_at_nodes(now, at_once=True)  # before its place is filled: the whole node may be gone
        cause: LossCause = "memory" if isinstance(error, exceptions.OutOfMemoryError) else "died"
        if node_id in self._lost_nodes:
            cause = "node"
        worker = self._scheduler.board.workers.get(worker_id)
        if worker is not None:
            if cause == "died" and any(self._is_between_stages(call) for call in worker.calls.values()):
                cause = "between"
            self._scheduler.worker_lost(worker_id, now, cause=cause)

    def _is_between_stages(self, call: Call) -> bool:
        """Return whether a suspect, which is alone on its worker, was in no stage when the worker died."""
        return call.is_noted and noted_stage(self._run_id, call.call_id) is None

    def kill_overdue(self, action: KillWorker, now: float) -> None:
        """End a worker whose call takes too long."""
        if action.worker_id not in self._scheduler.board.workers:
            return
        call = self._scheduler.board.calls.get(action.call_id)
        if call is None or call.started_s != action.started_s:
            return  # all answers that have arrived were read since, and one of them was the call's
        # Of a node that is cut off nothing is heard: no task is to blame for that.
        is_reachable = self._nodes.is_reachable(self._pool.node_of(action.worker_id))
        self._pool.kill(action.worker_id)
        self._scheduler.worker_lost(action.worker_id, now, cause="timeout" if is_reachable else "node")

    def give_up(self, action: GiveUp, now: float) -> None:
        """Apply the policy of the stage that a task was in to the task, which kills workers."""
        call = action.call
        task = self._fetch(call.inputs[0])
        if task is None:
            self._scheduler.suspect_lost(action, now)
            return
        step = self._steps[call.step]
        if not call.emitted:
            self._state.stats_of(step.stages[0].stage.name).saw([task])  # its worker died before it could report that
        name = noted_stage(self._run_id, call.call_id)
        stage = next((each.stage for each in step.stages if each.stage.name == name), step.stages[0].stage)
        error = _death(step, action)
        record = record_for_task(stage.name, task, error, attempts=action.deaths)
        policy_for(stage, self._policy).apply(
            record,
            # What is at hand is the input of the step; a later stage cannot be tried again with that.
            task if stage is step.stages[0].stage else None,
            self._state,
            cause=error,
            fix="look for crashes of native code, endless loops and memory use, or use on_error: quarantine",
        )
        if self._state.ledger is not None:
            self._state.ledger.used(call.step, [task])

    def _fetch(self, task: Slice) -> Task[Any] | None:
        """Return a task; None where it is lost."""
        try:
            payload = None if task.chunk.handle is None else fetch(task.chunk.handle)
        except self._ray.exceptions.ObjectLostError:
            return None
        return None if payload is None else decode(payload, task.start, task.stop)[0]


def _death(step: Step, action: GiveUp) -> WorkerDiedError:
    """Describe why a task is given up."""
    if action.cause == "timeout":
        return TaskTimeoutError(
            f"{step.name!r} exceeded its timeout of {step.timeout_s:g} s {action.deaths} times on this task alone"
        )
    if action.cause == "memory":
        return WorkerMemoryError(
            f"the machine ran out of memory {action.deaths} times while {step.name!r} ran on this task alone"
        )
    return WorkerDiedError(f"the worker process died {action.deaths} times while it ran {step.name!r} on this task")


def lost_chunks(chunks: list[Chunk], error: Any) -> list[Chunk]:
    """Return which of a call's chunks an error is about: the one it names, or all of them.

    Another call may have reported the loss before. Then the chunk is being made again and has no handle, or it has a
    new one already, and is not lost.
    """
    each_once = list(dict.fromkeys(chunks))
    name = getattr(error, "object_ref_hex", None)
    stored = [chunk for chunk in each_once if not isinstance(chunk.handle, Payload)]
    return [chunk for chunk in stored if name is None or chunk.handle is None or chunk.handle.hex() == name]
