"""Run the scheduler in virtual time, with workers that only take time: what would it do on ten thousand of them?"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.actions import (
    Deliver,
    GiveUp,
    PullSources,
    ResumeCall,
    RunCall,
    StartWorker,
    StopWorker,
)
from curator_core.executors.streaming.model import CallResult
from curator_core.executors.streaming.scheduler import REBALANCE_S, Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.executors.streaming.model import Call, Node, StepSpec

__all__ = ["Simulation", "SimulationResult", "StepModel"]

_BUDGET_S = 0.1


@dataclass(frozen=True)
class StepModel:
    """How a step behaves.

    Args:
        service_s: Seconds per task, or a function of the virtual time that returns them.
        fan_out: Outputs per task.
        output_bytes: Size of an output.
        boot_s: Seconds from the request for a worker until it is ready.
        deadly: Serial numbers of calls in which the worker dies, for tests of faults.
    """

    service_s: float | Callable[[float], float]
    fan_out: float = 1.0
    output_bytes: int = 100
    boot_s: float = 0.5
    deadly: frozenset[int] = frozenset()

    def seconds(self, now: float) -> float:
        """Return the service time of a task that begins now."""
        return self.service_s(now) if callable(self.service_s) else self.service_s


@dataclass
class SimulationResult:
    """What happened in virtual time.

    Args:
        makespan_s: Virtual duration.
        outputs: Tasks that came out.
        given_up: Tasks that were given up.
        output_times: When outputs came out, with how many.
        workers: For each step the number of workers over time.
        busy_fractions: For each step the busy share of the workers' time.
        queue_peaks: For each step the longest queue.
        peak_bytes: Most bytes in all queues together.
        scheduler_s: Real seconds spent in the scheduler.
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

    def rate(self, begin_s: float, end_s: float) -> float:
        """Return outputs per second between two moments."""
        return sum(count for at, count in self.output_times if begin_s <= at < end_s) / (end_s - begin_s)


class _VirtualWorker:
    def __init__(self) -> None:
        self.waiting: deque[RunCall] = deque()
        self.running: RunCall | None = None


class Simulation:
    """One run in virtual time.

    >>> from curator_core.executors.streaming.model import Node, StepSpec
    >>> simulation = Simulation([StepSpec("slow")], [StepModel(0.1)], [Node("one", cpus=4)], tasks=400)
    >>> round(simulation.run().makespan_s)
    11

    Args:
        steps: The steps.
        models: How each of them behaves.
        nodes: The nodes.
        tasks: How many source tasks there are.
        latency_s: From the scheduler to a worker and back.
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
        **options: Any,
    ) -> None:
        self.scheduler = Scheduler(steps, nodes, **options)
        self._models = models
        self._left = tasks
        self._latency_s = latency_s
        self._now = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._workers: dict[int, _VirtualWorker] = {}
        self._debt = [0.0] * len(models)  # fractional outputs
        self._calls = [0] * len(models)
        self.result = SimulationResult()
        self.observe: Callable[[Scheduler], None] | None = None

    def run(self, *, limit_s: float = math.inf) -> SimulationResult:
        """Run to the end, or until so much virtual time has passed."""
        self._scheduled(lambda: self.scheduler.tick(self._now))
        self._tick_later()
        while self._events and not self.scheduler.is_finished and self._now < limit_s:
            self._now, _, event = heapq.heappop(self._events)
            event()
            if self.observe is not None:
                self.observe(self.scheduler)
        board = self.scheduler.board
        self.result.makespan_s = self._now
        self.result.workers = [usage.workers for usage in board.usage]
        self.result.busy_fractions = [usage.busy_fraction for usage in board.usage]
        self.result.queue_peaks = [step.queue_peak for step in board.steps]
        return self.result

    # Time

    def _later(self, delay_s: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + delay_s, next(self._order), event))

    def _tick_later(self) -> None:
        def tick() -> None:
            self._scheduled(lambda: self.scheduler.tick(self._now))
            self._tick_later()

        self._later(REBALANCE_S, tick)

    def _scheduled(self, event: Callable[[], None]) -> None:
        """Tell the scheduler something, on the clock, and carry out what it asks for."""
        started = time.perf_counter()
        event()
        actions = self.scheduler.take_actions()
        self.result.scheduler_s += time.perf_counter() - started
        held = sum(step.uncommitted_bytes for step in self.scheduler.board.steps)
        self.result.peak_bytes = max(self.result.peak_bytes, held)
        for action in actions:
            self._do(action)

    # Actions

    def _do(self, action: Any) -> None:
        if isinstance(action, RunCall):
            worker = self._workers[action.worker_id]
            worker.waiting.append(action)
            if worker.running is None:
                self._begin(action.worker_id)
        elif isinstance(action, PullSources):
            self._later(0.0, lambda: self._pull(action.count))
        elif isinstance(action, StartWorker):
            self._workers[action.worker_id] = _VirtualWorker()
            self._later(self._models[action.step].boot_s, lambda: self._ready(action.worker_id))
        elif isinstance(action, StopWorker):
            self._later(self._latency_s, lambda: self._stopped(action.worker_id))
        elif isinstance(action, Deliver):
            self.result.outputs += action.chunk.count
            self.result.output_times.append((self._now, action.chunk.count))
        elif isinstance(action, GiveUp):
            self.result.given_up += 1
        else:
            assert not isinstance(action, ResumeCall), "virtual workers never interrupt a call"

    def _pull(self, count: int) -> None:
        taken = min(count, self._left)
        self._left -= taken
        if taken:
            self._scheduled(lambda: self.scheduler.source_chunk(taken, 100 * taken, object(), self._now))
        else:
            self._scheduled(lambda: self.scheduler.source_ended(self._now))

    def _ready(self, worker_id: int) -> None:
        if worker_id in self.scheduler.board.workers:
            self._scheduled(lambda: self.scheduler.worker_ready(worker_id, self._now))

    def _stopped(self, worker_id: int) -> None:
        self._workers.pop(worker_id, None)
        if worker_id in self.scheduler.board.workers:
            self._scheduled(lambda: self.scheduler.worker_stopped(worker_id, self._now))

    def _begin(self, worker_id: int) -> None:
        worker = self._workers[worker_id]
        worker.running = worker.waiting.popleft()
        call = worker.running.call
        each_s = self._models[call.step].seconds(self._now)
        consumed = min(call.tasks, max(1, math.ceil(_BUDGET_S / each_s))) if each_s > 0 else call.tasks
        service_s = consumed * each_s
        self._calls[call.step] += 1
        dies = self._calls[call.step] in self._models[call.step].deadly
        self._later(service_s, lambda: self._end(worker_id, call, consumed, service_s, dies=dies))

    def _end(self, worker_id: int, call: Call, consumed: int, service_s: float, *, dies: bool) -> None:
        worker = self._workers.get(worker_id)
        if worker is None:
            return
        if dies:
            del self._workers[worker_id]
            self._scheduled(lambda: self.scheduler.worker_lost(worker_id, self._now))
            return
        worker.running = None
        if worker.waiting:
            self._begin(worker_id)
        model = self._models[call.step]
        self._debt[call.step] += consumed * model.fan_out
        outputs = call.target.count if call.target is not None else int(self._debt[call.step] + 1e-9)
        self._debt[call.step] -= 0 if call.target is not None else outputs
        result = CallResult(consumed, outputs, outputs * model.output_bytes, service_s, handle=object())
        self._later(self._latency_s, lambda: self._report(worker_id, call, result))

    def _report(self, worker_id: int, call: Call, result: CallResult) -> None:
        if worker_id in self._workers and self.scheduler.board.calls.get(call.call_id) is call:
            self._scheduled(lambda: self.scheduler.call_done(call.call_id, result, self._now))
