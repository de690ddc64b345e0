"""Workers as Ray actors: start them, call them, end them, and hear from them through one queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.worker_setup import end_lease
from curator_core.executors.streaming.shell.worker import CallOrder, StepWorker

if TYPE_CHECKING:
    import queue
    from collections.abc import Sequence
    from concurrent.futures import Future

    from curator_core.executors.ray.shipping import PackedStage
    from curator_core.executors.streaming.engine.actions import ResumeCall, RunCall, StartWorker
    from curator_core.executors.streaming.engine.model import Call, StepSpec
    from curator_core.executors.streaming.engine.tuning import Tuning
    from curator_core.executors.streaming.shell.reservation import Reservation
    from curator_core.executors.streaming.shell.worker import WorkerOptions

__all__ = ["CallEnded", "WorkerEnded", "WorkerPool", "WorkerStarted", "call_order"]


@dataclass(slots=True)
class WorkerStarted:
    """The set-up of a worker has come to an end; ``answer`` holds its report or what killed it."""

    worker_id: int
    answer: Future[Any]


@dataclass(slots=True)
class WorkerEnded:
    """The teardown of a worker has come to an end."""

    worker_id: int
    answer: Future[Any]


@dataclass(slots=True)
class CallEnded:
    """A call, or a part of one, has come to an end. ``payload`` refers to the outputs."""

    worker_id: int
    call: Call
    payload: Any
    answer: Future[Any]


@dataclass
class _Actor:
    handle: Any
    node_id: str
    run: Any  # the remote methods, made once: that takes as long as a call
    resume: Any
    farewell: Any = None  # the answer to its teardown, once that is asked for


class WorkerPool:
    """The actors of a run. Ray's own thread puts their answers on the queue of events as they arrive."""

    def __init__(
        self,
        events: queue.SimpleQueue[Any],
        steps: Sequence[StepSpec],
        stages: Sequence[list[PackedStage]],
        options: Sequence[WorkerOptions],
        reservation: Reservation,
        run_id: str,
        *,
        runtime_envs: Sequence[dict[str, Any] | None],
        tuning: Tuning,
    ) -> None:
        self._tuning = tuning
        self._runtime_envs = runtime_envs
        self._ray = import_ray()
        self._events = events
        self._steps = steps
        # Put once: the pickled stages travel to each node, not to each worker.
        self._stages = [self._ray.put(each) for each in stages]
        self._options = options
        self._reservation = reservation
        self._run_id = run_id
        self._actors: dict[int, _Actor] = {}
        self._class = self._ray.remote(StepWorker)

    def start(self, action: StartWorker) -> None:
        """Start a worker and set it up."""
        held = self._steps[action.step].held
        runtime_env = self._runtime_envs[action.step]
        options: dict[str, Any] = {
            "num_cpus": 0,  # CPUs are leased by the call, inside the run
            "num_gpus": round(action.gpus, 4),
            "resources": {name: amount for name, amount in held.custom.items() if amount},
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": self._reservation.strategy(action.node_id, held),
        }
        if held.memory_bytes:
            options["memory"] = held.memory_bytes
        if runtime_env is not None:
            options["runtime_env"] = runtime_env
        handle = self._class.options(**options).remote(self._stages[action.step], self._options[action.step])
        self._actors[action.worker_id] = _Actor(
            handle,
            action.node_id,
            run=handle.run.options(num_returns=2).remote,
            resume=handle.resume.options(num_returns=2).remote,
        )
        answer = handle.setup.remote(_name(action.worker_id), action.node_id)
        self._listen(answer, lambda future: WorkerStarted(action.worker_id, future))

    def run(self, action: RunCall) -> None:
        """Send a call."""
        call = action.call
        payloads = [each.chunk.handle for each in call.inputs]
        payload, report = self._actors[action.worker_id].run(list(call_order(call, self._tuning)), *payloads)
        self._listen(report, lambda future: CallEnded(action.worker_id, call, payload, future))

    def resume(self, action: ResumeCall) -> None:
        """Let a worker resume its interrupted call."""
        payload, report = self._actors[action.worker_id].resume()
        self._listen(report, lambda future: CallEnded(action.worker_id, action.call, payload, future))

    def stop(self, worker_id: int) -> None:
        """Tear a worker down, then end it."""
        actor = self._actors[worker_id]
        actor.farewell = actor.handle.teardown.remote()
        self._listen(actor.farewell, lambda future: WorkerEnded(worker_id, future))

    def kill(self, worker_id: int) -> None:
        """End a worker: it writes no more files from now on, even if its process lives on for a while."""
        actor = self._actors.pop(worker_id, None)
        if actor is not None:
            end_lease(self._run_id, _name(worker_id))
            self._ray.kill(actor.handle)

    def close(self, *, patience_s: float) -> None:
        """Tear down and end all workers; those that do not answer in time are just ended."""
        answers = [actor.farewell or actor.handle.teardown.remote() for actor in self._actors.values()]
        if answers and patience_s > 0:
            self._ray.wait(answers, num_returns=len(answers), timeout=patience_s)
        for worker_id in list(self._actors):
            self.kill(worker_id)

    def node_of(self, worker_id: int) -> str | None:
        """Return the node of a worker."""
        actor = self._actors.get(worker_id)
        return None if actor is None else actor.node_id

    def _listen(self, answer: Any, event: Any) -> None:
        """Put an event on the queue when an answer arrives."""
        answer.future().add_done_callback(lambda future: self._events.put(event(future)))


def call_order(call: Call, tuning: Tuning) -> CallOrder:
    """Return what a worker is told to do, beside the payloads of the inputs."""
    return CallOrder(
        [[each.start, each.stop] for each in call.inputs],
        call.skip,
        call.limit,
        suspect_id=call.call_id if call.is_noted else None,
        parts=tuning.memory_parts ** (call.deaths + 1) if call.is_noted and call.cause == "memory" else 1,
        drops_suspended=call.drops_suspended,
    )


def _name(worker_id: int) -> str:
    return f"worker-{worker_id}"
