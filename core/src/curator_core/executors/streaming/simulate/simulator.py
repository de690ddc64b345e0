"""Run the scheduler in virtual time, with workers that only take time: what would it do on ten thousand of them?"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.engine.actions import (
    Deliver,
    Forget,
    GiveUp,
    PullSources,
    ResumeCall,
    RunCall,
    StartWorker,
    StopWorker,
)
from curator_core.executors.streaming.engine.model import CallResult
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.simulate.start_contention import StartingNode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.executors.streaming.engine.model import Call, Node, StepSpec

__all__ = ["Simulation", "SimulationResult", "StepModel"]

_SOURCE_BYTES = 100


@dataclass(frozen=True)
class StepModel:
    """How a step behaves.

    Args:
        service_s: Seconds per task, or a function of the virtual time that returns them.
        fan_out: Outputs per task.
        output_bytes: Size of an output.
        boot_s: Seconds from the request for a worker until it is ready.
        spread: How much calls differ: each takes between ``1 - spread`` and ``1 + spread`` times as long.
        deadly: Serial numbers of calls in which the worker dies, for tests of faults.
    """

    service_s: float | Callable[[float], float]
    fan_out: float = 1.0
    output_bytes: int = 100
    boot_s: float = 0.5
    spread: float = 0.0
    deadly: frozenset[int] = frozenset()

    def seconds(self, now: float) -> float:
        """Return the service time of a task that begins now."""
        return self.service_s(now) if callable(self.service_s) else self.service_s


@dataclass
class SimulationResult:
    """What happened in virtual time: in all, and for each step.

    Args:
        peak_bytes: Most bytes in all queues together.
        scheduler_s: Real seconds of processor time spent in the scheduler.
    """

    makespan_s: float = 0.0
    outputs: int = 0
    given_up: int = 0
    output_times: list[tuple[float, int]] = field(default_factory=list)
    workers: list[list[tuple[float, int]]] = field(default_factory=list)
    busy_fractions: list[float | None] = field(default_factory=list)
    queue_peaks: list[int] = field(default_factory=list)
    peak_bytes: float = 0.0
    scheduler_s: float = 0.0
    calls: int = 0

    def rate(self, begin_s: float, end_s: float) -> float:
        """Return outputs per second between two moments."""
        return sum(count for at, count in self.output_times if begin_s <= at < end_s) / (end_s - begin_s)


class _VirtualWorker:
    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[RunCall] = deque()
        self.running: RunCall | None = None


class Simulation:
    """One run in virtual time.

    >>> from curator_core.executors.streaming.engine.model import Node, StepSpec
    >>> simulation = Simulation([StepSpec("slow")], [StepModel(0.1)], [Node("one", cpus=4)], tasks=400)
    >>> round(simulation.run().makespan_s)
    11

    Args:
        steps: The steps.
        models: How each of them behaves.
        nodes: The nodes.
        tasks: Number of source tasks.
        latency_s: From a worker to the scheduler and back.
        overhead_s: What a call costs its worker beside the work itself.
        starts_at_once: Workers that a node can start at full speed at a time; more slow each other down.
        tuning: The numbers that the scheduler decides by.
        options: Further arguments of the scheduler.
    """

    def __init__(
        self,
        steps: Sequence[StepSpec],
        models: Sequence[StepModel],
        nodes: Sequence[Node],
        *,
        tasks: int,
        latency_s: float = 0.002,
        overhead_s: float = 0.0,
        starts_at_once: float = math.inf,
        tuning: Tuning = Tuning(),
        **options: Any,
    ) -> None:
        self.scheduler = Scheduler(steps, nodes, tuning=tuning, **options)
        self._tuning = tuning
        self._models = models
        self._left = tasks
        self._latency_s = latency_s
        self._overhead_s = overhead_s
        self._starts_at_once = starts_at_once
        self._random = random.Random(0).random  # noqa: S311 - the same run every time
        self._now = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._workers: dict[int, _VirtualWorker] = {}
        self._starting: dict[str, StartingNode] = {}
        self._debt = [0.0] * len(models)  # fractional outputs
        self._calls = [0] * len(models)
        self.result = SimulationResult()
        self.observe: Callable[[Scheduler], None] | None = None
        self._act: dict[type, Callable[[Any], None]] = {
            RunCall: self._run_call,
            Forget: lambda _: None,
            PullSources: lambda action: self._later(0.0, self._pull, action.count),
            Deliver: self._deliver,
            StartWorker: self._start,
            StopWorker: lambda action: self._later(self._latency_s, self._stopped, action.worker_id),
            GiveUp: self._give_up,
        }

    def run(self, *, limit_s: float = math.inf) -> SimulationResult:
        """Run to the end, or until so much virtual time has passed."""
        self._tick()
        while self._events and not self.scheduler.is_finished and self._now < limit_s:
            self._now, _, event, arguments = heapq.heappop(self._events)
            event(*arguments)
            if self.observe is not None:
                self.observe(self.scheduler)
        board = self.scheduler.board
        self.result.makespan_s = self._now
        self.result.workers = [usage.workers for usage in board.usage]
        self.result.busy_fractions = [usage.busy_fraction for usage in board.usage]
        self.result.queue_peaks = [step.queue_peak for step in board.steps]
        return self.result

    # Time

    def _later(self, delay_s: float, event: Callable[..., None], *arguments: Any) -> None:
        heapq.heappush(self._events, (self._now + delay_s, next(self._order), event, arguments))

    def _tick(self) -> None:
        self._tell(self.scheduler.tick)
        self._later(self._tuning.balance_interval_s, self._tick)

    def _tell(self, event: Callable[..., None], *arguments: Any) -> None:
        """Tell the scheduler something, on the clock, and carry out what it asks for."""
        started = time.thread_time()
        event(*arguments, self._now)
        actions = self.scheduler.take_actions()
        self.result.scheduler_s += time.thread_time() - started
        held = 0.0
        for step in self.scheduler.board.steps:
            held += step.uncommitted_bytes
        self.result.peak_bytes = max(self.result.peak_bytes, held)
        for action in actions:
            assert not isinstance(action, ResumeCall), "virtual workers never interrupt a call"
            self._act[type(action)](action)

    # Actions

    def _run_call(self, action: RunCall) -> None:
        worker = self._workers[action.worker_id]
        worker.waiting.append(action)
        if worker.running is None:
            self._begin(action.worker_id, worker)

    def _deliver(self, action: Deliver) -> None:
        self.result.outputs += action.chunk.count
        self.result.output_times.append((self._now, action.chunk.count))

    def _give_up(self, action: GiveUp) -> None:
        del action
        self.result.given_up += 1

    def _start(self, action: StartWorker) -> None:
        self._workers[action.worker_id] = _VirtualWorker()
        boot_s = self._models[action.step].boot_s
        if math.isinf(self._starts_at_once):
            self._later(boot_s, self._ready, action.worker_id)
            return
        node = self._starting.get(action.node_id)
        if node is None:
            node_id = action.node_id
            node = self._starting[node_id] = StartingNode(
                self._starts_at_once, lambda delay_s, alarm: self._later(delay_s, self._ring, node_id, alarm)
            )
        node.start(action.worker_id, boot_s, self._now)

    # Events

    def _ring(self, node_id: str, alarm: int) -> None:
        for worker_id in self._starting[node_id].ring(alarm, self._now):
            self._ready(worker_id)

    def _pull(self, count: int) -> None:
        taken = min(count, self._left)
        self._left -= taken
        if taken:
            self._tell(self.scheduler.source_chunk, taken, _SOURCE_BYTES * taken, self)
        else:
            self._tell(self.scheduler.source_ended)

    def _ready(self, worker_id: int) -> None:
        if worker_id in self.scheduler.board.workers:
            self._tell(self.scheduler.worker_ready, worker_id)

    def _stopped(self, worker_id: int) -> None:
        self._workers.pop(worker_id, None)
        if worker_id in self.scheduler.board.workers:
            self._tell(self.scheduler.worker_stopped, worker_id)

    def _begin(self, worker_id: int, worker: _VirtualWorker) -> None:
        worker.running = worker.waiting.popleft()
        call = worker.running.call
        model = self._models[call.step]
        each_s = model.seconds(self._now)
        if model.spread:
            each_s *= 1.0 + model.spread * (2.0 * self._random() - 1.0)
        consumed = call.tasks
        limit_s = self._tuning.call_limit_s
        if consumed * each_s > limit_s:
            consumed = min(consumed, max(1, math.ceil(limit_s / each_s)))
        service_s = consumed * each_s
        self._calls[call.step] += 1
        dies = self._calls[call.step] in model.deadly
        end = self._die if dies else self._end
        self._later(service_s + self._overhead_s, end, worker_id, call, consumed, service_s)

    def _die(self, worker_id: int, *_: Any) -> None:
        if self._workers.pop(worker_id, None) is not None:
            self._tell(self.scheduler.worker_lost, worker_id)

    def _end(self, worker_id: int, call: Call, consumed: int, service_s: float) -> None:
        worker = self._workers.get(worker_id)
        if worker is None:
            return
        worker.running = None
        if worker.waiting:
            self._begin(worker_id, worker)
        model = self._models[call.step]
        if call.target is not None:
            outputs = call.target.count
        else:
            self._debt[call.step] += consumed * model.fan_out
            outputs = int(self._debt[call.step] + 1e-9)
            self._debt[call.step] -= outputs
        result = CallResult(consumed, outputs, outputs * model.output_bytes, service_s, handle=self)
        self._later(self._latency_s, self._report, worker_id, call, result)

    def _report(self, worker_id: int, call: Call, result: CallResult) -> None:
        if worker_id in self._workers and self.scheduler.board.calls.get(call.call_id) is call:
            self.result.calls += 1
            self._tell(self.scheduler.call_done, call.call_id, result)
