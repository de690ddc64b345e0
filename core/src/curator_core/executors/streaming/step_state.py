"""One step during a run: its queue, its workers, what it is owed and what is known about its speed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from curator_core.executors.streaming.chunk_sizing import ChunkSizer, calls_in_flight
from curator_core.executors.streaming.estimator import StepEstimator
from curator_core.executors.streaming.model import Slice

if TYPE_CHECKING:
    from curator_core.executors.streaming.claims import Claims
    from curator_core.executors.streaming.leases import Leases
    from curator_core.executors.streaming.model import Call, CallResult, Chunk, StepSpec, Worker

__all__ = ["StepState"]


class StepState:
    """The queue in front of a step and the workers behind it."""

    def __init__(self, index: int, spec: StepSpec) -> None:
        self.index = index
        self.spec = spec
        self.workers: dict[int, Worker] = {}
        self.urgent: deque[Call] = deque()  # suspects and replays: run alone, before anything else
        self.estimate = StepEstimator()
        self.sizer = ChunkSizer(spec.batch_size)
        self.queued_tasks = 0
        self.uncommitted_bytes = 0.0  # of the tasks queued here or in hand
        self.running_calls = 0
        self.suspended_calls = 0
        self.parked_tasks = 0  # waiting for a lost chunk to be made again
        self.expected_tasks = 0.0  # outputs that calls in flight are going to make
        self.expected_bytes = 0.0
        self.ready_workers = 0
        self.live_workers = 0  # ready or starting
        self.task_bytes = 0.0  # of the tasks that arrived last
        self.queue_peak = 0
        self.start_deaths = 0
        self.boot_s: float | None = None
        self._queue: deque[Slice] = deque()
        self._idle: dict[str, deque[Worker]] = {}
        self._busy: deque[Worker] = deque()
        self._call_size: int | None = None

    # Work

    @property
    def has_work(self) -> bool:
        """Whether anything is queued or in hand."""
        return bool(self.queued_tasks or self.running_calls or self.suspended_calls or self.urgent or self.parked_tasks)

    def push(self, chunk: Chunk) -> None:
        """Queue a chunk."""
        self._queue.append(Slice(chunk, 0, chunk.count))
        self.queued_tasks += chunk.count
        self.uncommitted_bytes += chunk.size_bytes
        self.queue_peak = max(self.queue_peak, self.queued_tasks)
        if chunk.task_bytes != self.task_bytes:
            self.task_bytes = chunk.task_bytes
            self._call_size = None

    def push_back(self, slices: list[Slice]) -> None:
        """Queue tasks again that were handed out, before all others."""
        self._queue.extendleft(reversed(slices))
        self.queued_tasks += sum(len(each) for each in slices)

    def take(self, count: int) -> list[Slice]:
        """Take up to so many tasks off the queue."""
        taken: list[Slice] = []
        while count > 0 and self._queue:
            head = self._queue.popleft()
            if len(head) > count:
                self._queue.appendleft(Slice(head.chunk, head.start + count, head.stop))
                head = Slice(head.chunk, head.start, head.start + count)
            taken.append(head)
            count -= len(head)
            self.queued_tasks -= len(head)
        return taken

    @property
    def next_node(self) -> str | None:
        """Where the tasks at the head of the queue are."""
        return self._queue[0].chunk.node_id if self._queue else None

    @property
    def call_size(self) -> int:
        """How many tasks a call should have."""
        if self._call_size is None:
            heavier = max(self.task_bytes, self.estimate.output_bytes * self.estimate.fan_out)
            self._call_size = self.sizer.size(service_s=self.estimate.service_s, task_bytes=heavier)
        return self._call_size

    @property
    def least_size(self) -> int:
        """How many tasks a call should have at least, while there are more to come."""
        return min(self.call_size, self.sizer.least(service_s=self.estimate.service_s))

    @property
    def call_bytes(self) -> float:
        """How many bytes a call is going to make."""
        return self.call_size * self.estimate.fan_out * self.estimate.output_bytes

    @property
    def depth(self) -> int:
        """How many calls a worker may have in flight."""
        service_s = self.estimate.service_s
        return calls_in_flight(None if service_s is None else service_s * self.call_size)

    def learn(self, call: Call, result: CallResult) -> None:
        """Learn from a call, or a part of one, how fast the step is and what it makes."""
        call.service_s += result.service_s
        self.estimate.add(
            tasks=call.tasks if result.is_done else 0,
            outputs=result.outputs,
            size_bytes=result.size_bytes,
            service_s=call.service_s,
        )
        if call.kind == "normal" and result.consumed:
            self.sizer.learned(tasks=result.consumed, service_s=result.service_s)
        self._call_size = None

    # Workers

    def list_worker(self, worker: Worker) -> None:
        """Note a worker that may take a call."""
        if worker.phase != "ready" or worker.is_alone or worker.suspended is not None:
            return
        if not worker.calls:
            if not worker.is_listed_idle:
                worker.is_listed_idle = True
                self._idle.setdefault(worker.node_id, deque()).append(worker)
        elif not worker.is_listed_busy:
            worker.is_listed_busy = True
            self._busy.append(worker)

    @property
    def has_candidates(self) -> bool:
        """Whether any worker may be able to take a call."""
        return bool(self._idle or self._busy)

    def has_idle(self, node_id: str) -> bool:
        """Return whether an idle worker waits on a node."""
        return self._first_idle(node_id) is not None

    def pop_idle(self, leases: Leases, claims: Claims) -> Worker | None:
        """Take an idle worker off the list whose CPUs are free, near the next tasks if possible."""
        cpus = self.spec.cpus
        near = self.next_node
        if near is not None and near in self._idle and leases.can_take(near, cpus) and not claims.block(near):
            worker = self._first_idle(near)
            if worker is not None:
                return self._unlist(worker)
        nodes = leases.free_nodes if cpus and len(leases.free_nodes) < len(self._idle) else self._idle
        for node_id in list(nodes):
            if node_id in self._idle and leases.can_take(node_id, cpus) and not claims.block(node_id):
                worker = self._first_idle(node_id)
                if worker is not None:
                    return self._unlist(worker)
        return None

    def pop_busy(self, claims: Claims) -> Worker | None:
        """Take a worker off the list that has calls but may have more."""
        depth = self.depth
        passed: list[Worker] = []
        found = None
        while self._busy:
            worker = self._busy.popleft()
            if worker.phase != "ready" or worker.is_alone or not 0 < len(worker.calls) < depth:
                worker.is_listed_busy = False
            elif self.spec.cpus and claims.block(worker.node_id):
                passed.append(worker)
            else:
                worker.is_listed_busy = False
                found = worker
                break
        self._busy.extendleft(reversed(passed))
        return found

    def _unlist(self, worker: Worker) -> Worker:
        self._idle[worker.node_id].popleft()
        worker.is_listed_idle = False
        return worker

    def _first_idle(self, node_id: str) -> Worker | None:
        waiting = self._idle.get(node_id)
        while waiting:
            worker = waiting[0]
            if worker.is_idle and worker.worker_id in self.workers:
                return worker
            waiting.popleft()
            worker.is_listed_idle = False
        self._idle.pop(node_id, None)
        return None
