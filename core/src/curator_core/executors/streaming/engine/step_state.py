"""One step during a run: its queue, its workers, what it is owed and what is known about its speed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.chunk_sizing import (
    ChunkSizer,
    call_target_s,
    calls_in_flight,
    min_behind,
)
from curator_core.executors.streaming.engine.estimator import StepEstimator
from curator_core.executors.streaming.engine.leases import Candidates
from curator_core.executors.streaming.engine.model import Slice

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.leases import Leases
    from curator_core.executors.streaming.engine.model import Call, CallResult, Chunk, StepSpec, Worker
    from curator_core.executors.streaming.engine.tuning import Tuning

__all__ = ["StepState"]


class StepState:
    """The queue in front of a step and the workers behind it."""

    def __init__(self, index: int, spec: StepSpec, leases: Leases, tuning: Tuning) -> None:
        self._tuning = tuning
        self.index = index
        self.spec = spec
        self.holds = bool(spec.held)
        self.is_large = False  # whether its workers need more CPUs at once than those of other steps
        self.workers: dict[int, Worker] = {}
        self.candidates = Candidates(index, spec.cpus, leases)
        self.suspended: dict[int, Worker] = {}  # with a call that waits for room to resume
        self.urgent: deque[Call] = deque()  # suspects and replays: run alone, before anything else
        self.estimate = StepEstimator(tuning)
        self.sizer = ChunkSizer(spec.batch_size, tuning, max_tasks=spec.max_worker_tasks)
        self.queued_tasks = 0
        self.uncommitted_bytes = 0  # of the tasks queued here or in hand
        self.running_calls = 0
        self.parked_tasks = 0  # waiting for a lost chunk to be made again
        self.expected_tasks = 0.0  # outputs that calls in flight are going to make
        self.expected_bytes = 0.0
        self.ready_workers = 0
        self.live_workers = 0  # ready or starting
        self.leases = 0  # workers with calls
        self.share: int | None = None  # leases that it need not pass on; all of them, if its workers hold other things
        self.crew: int | None = None  # workers that its share of the CPUs keeps busy, once that is known
        self.promised_calls = 0  # for which workers of earlier steps give way
        self.task_bytes = 0.0  # of the tasks that arrived last
        self.queue_peak = 0
        self.start_deaths = 0
        self.boot_s: float | None = None
        self._queue: deque[Slice] = deque()
        self.call_size = 1  # how many tasks a call should have
        self.min_size = 1  # how many at least, while there are more to come
        self.min_behind = 1  # the same for a call behind one that still runs
        self.min_at_end = 1  # the same when there are no more to come
        self.depth = 1  # how many calls a worker may have in flight
        self.round_tasks = 1  # how many tasks its workers take if each gets one call
        self._target_s = call_target_s(0.0, tuning)
        self._sized_s = self._sized_bytes = 0.0  # the tasks that calls are sized for
        self.size_up()

    # Work

    @property
    def has_work(self) -> bool:
        """Whether anything is queued or in hand."""
        return bool(self.queued_tasks or self.running_calls or self.suspended or self.urgent or self.parked_tasks)

    def push(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._queue.append(Slice(chunk, 0, chunk.count))
        self.queued_tasks += chunk.count
        self.uncommitted_bytes += chunk.size_bytes
        self.queue_peak = max(self.queue_peak, self.queued_tasks)
        self.task_bytes = chunk.task_bytes
        if self.task_bytes * self._tuning.size_tolerance > self._sized_bytes:
            self.size_up()

    def push_back(self, slices: list[Slice]) -> None:
        """Queue tasks again that were handed out, before all others."""
        self._queue.extendleft(reversed(slices))
        self.queued_tasks += sum(len(each) for each in slices)

    def take(self, count: int) -> list[Slice]:
        """Take up to so many tasks off the queue."""
        taken: list[Slice] = []
        queue = self._queue
        while count > 0 and queue:
            head = queue[0]
            here = head.stop - head.start
            if here > count:
                middle = head.start + count
                queue[0] = Slice(head.chunk, middle, head.stop)
                head = Slice(head.chunk, head.start, middle)
                here = count
            else:
                queue.popleft()
            taken.append(head)
            count -= here
            self.queued_tasks -= here
        return taken

    @property
    def next_node(self) -> str | None:
        """Where the tasks at the head of the queue are."""
        return self._queue[0].chunk.node_id if self._queue else None

    @property
    def call_bytes(self) -> float:
        """How many bytes a call is going to make."""
        return self.call_size * self.estimate.bytes_per_task

    def aim_for(self, target_s: float) -> None:
        """Let calls last so long."""
        self._target_s = target_s
        self.size_up()

    def size_up(self) -> None:
        """Size calls anew, after a change of what is known or of the workers."""
        service_s = self.estimate.service_s
        heavier = max(self.task_bytes, self.estimate.bytes_per_task)
        self._sized_s, self._sized_bytes = service_s or 0.0, heavier
        size = self.sizer.size(service_s=service_s, task_bytes=heavier, target_s=self._target_s)
        self.call_size = size
        self.min_size = min(size, self.sizer.min_size(service_s=service_s))
        self.min_at_end = min(size, self.sizer.min_size(service_s=service_s, are_the_last=True))
        call_s = None if service_s is None else service_s * size
        self.min_behind = min_behind(size, self.min_size, call_s, self._tuning)
        self.depth = calls_in_flight(call_s, self._tuning)
        self.round_tasks = self.working * max(size, self.spec.batch_size)

    def learn(self, call: Call, result: CallResult) -> None:
        """Learn from a call, or a part of one, how fast the step is and what it makes."""
        call.service_s += result.service_s
        self.estimate.add(
            tasks=call.tasks if result.is_done else result.completed,
            outputs=result.outputs,
            size_bytes=result.size_bytes,
            service_s=call.service_s,
        )
        has_grown = False
        if call.kind == "normal" and result.consumed:
            has_grown = self.sizer.learned(tasks=result.consumed, service_s=result.service_s, target_s=self._target_s)
        service_s = self.estimate.service_s or 0.0
        tolerance = self._tuning.size_tolerance
        is_as_fast = self._sized_s * tolerance <= service_s <= self._sized_s / tolerance
        if has_grown or not is_as_fast or self.estimate.bytes_per_task * tolerance > self._sized_bytes:
            self.size_up()

    # Workers

    @property
    def working(self) -> int:
        """How many workers can be expected to be at work at a time."""
        count = len(self.workers)
        if self.crew is not None and self.crew < count:
            count = self.crew
        return count or 1

    def wears_out(self, worker: Worker) -> bool:
        """Return whether a worker was sent as many tasks as one may do: it gets no more."""
        max_tasks = self.spec.max_worker_tasks
        return max_tasks is not None and worker.tasks_sent >= max_tasks and not self.spec.is_source

    def list_worker(self, worker: Worker) -> None:
        """Note whether a worker may take a call now."""
        if self.wears_out(worker):
            self.candidates.discard(worker)
        else:
            self.candidates.update(worker, self.depth)
