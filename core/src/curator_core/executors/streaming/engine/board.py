"""The state of a run that all parts of the scheduler look at and move pieces on."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import Forget
from curator_core.executors.streaming.engine.leases import Leases
from curator_core.executors.streaming.engine.model import Chunk
from curator_core.executors.streaming.engine.placement import Placement
from curator_core.executors.streaming.engine.step_state import StepState
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.streaming.engine.actions import Action
    from curator_core.executors.streaming.engine.model import Call, CallResult, Node, Slice, StepSpec, Worker

__all__ = ["Board"]


class Board:
    """Steps, workers, leases and held resources of one run; the arguments are those of the scheduler."""

    def __init__(
        self,
        steps: Sequence[StepSpec],
        nodes: Sequence[Node],
        *,
        memory_limit_bytes: float,
        is_batch: bool = False,
        keep_sources: bool = False,
        tuning: Tuning = Tuning(),
    ) -> None:
        self.tuning = tuning
        self.leases = Leases(nodes)
        self.steps = [StepState(index, spec, self.leases, tuning) for index, spec in enumerate(steps)]
        self.placement = Placement(nodes, [spec.held for spec in steps if spec.held])
        self.queue_bytes = memory_limit_bytes / max(1, len(steps))
        for step in self.steps:
            # Calls under way on either side of a queue, and what the store has yet to free, are not to fill it.
            step.sizer.max_bytes = min(step.sizer.max_bytes, self.queue_bytes / tuning.calls_in_queue)
        self.is_unbounded = is_batch
        self.keep_sources = keep_sources  # when it is switched on, all chunks that are there count as source chunks
        self.calls: dict[int, Call] = {}
        self.workers: dict[int, Worker] = {}
        self.actions: list[Action] = []
        self.is_pulling = False
        self.sources_ended = False
        self.usage = [Usage() for _ in steps]
        self._ids = itertools.count()

    def next_id(self) -> int:
        """Return a number not used before."""
        return next(self._ids)

    # Progress

    def upstream_ended(self, step: StepState) -> bool:
        """Return whether nothing more can reach a step."""
        if not self.sources_ended or self.is_pulling:
            return False
        return not any(each.has_work for each in self.steps[: step.index])

    def has_ended(self, step: StepState) -> bool:
        """Return whether a step has nothing left to do, now and later."""
        return not step.has_work and self.upstream_ended(step)

    def flow_to(self, step: StepState) -> float:
        """Return how many tasks reach a step for each that enters the pipeline, through the steps that still run."""
        running = (each for each in self.steps[: step.index] if not self.has_ended(each))
        return math.prod(each.estimate.fan_out for each in running)

    def may_run(self, step: StepState) -> bool:
        """Return whether a step may be given work now; in batch mode the one before must have ended."""
        return not self.is_unbounded or step.index == 0 or self.upstream_ended(step)

    def has_room_behind(self, step: StepState) -> bool:
        """Return whether a call's outputs fit into the queue of the next step.

        By count, the bound lets both the workers before the queue and those behind it have a few calls waiting: a bound
        made for one fast consumer would throttle many slow producers. By bytes, a step with an empty queue behind it
        may always run one call, so that there is progress whatever the sizes.
        """
        if step.index + 1 == len(self.steps) or self.is_unbounded:
            return True
        behind = self.steps[step.index + 1]
        expected_bytes = behind.uncommitted_bytes + step.expected_bytes
        if expected_bytes >= 1 and expected_bytes + step.call_bytes > self.queue_bytes:  # less is a rounding error
            return False
        if not behind.ready_workers:
            return True  # while its workers start, there is nothing better to do than to work ahead
        expected_tasks = behind.queued_tasks + step.expected_tasks
        if expected_tasks < self.tuning.queue_rounds * behind.round_tasks:
            return True
        return expected_tasks < self.tuning.queue_rounds * step.round_tasks * max(1.0, step.estimate.fan_out)

    # Calls

    def book(self, worker: Worker, step: StepState, call: Call, now: float) -> None:
        """Note that a worker has been given a call, and the CPUs for it if it has no other."""
        if not worker.calls:
            self.leases.take(worker.node_id, step.spec.cpus, step.index)
            step.leases += 1
            if not step.holds:
                self.usage[step.index].offers(1, now)
        call.worker_id = worker.worker_id
        call.started_s = now
        call.expected_tasks = call.tasks * step.estimate.fan_out
        call.expected_bytes = call.tasks * step.estimate.bytes_per_task
        step.expected_tasks += call.expected_tasks
        step.expected_bytes += call.expected_bytes
        step.running_calls += 1
        worker.calls[call.call_id] = call
        worker.tasks_sent += call.tasks
        self.calls[call.call_id] = call

    def unbook(self, call: Call, now: float) -> tuple[Worker, StepState]:
        """Note that a call has come back, or never will; the lease goes with the last one of its worker."""
        worker, step = self.workers[call.worker_id], self.steps[call.step]
        del worker.calls[call.call_id]
        del self.calls[call.call_id]
        step.running_calls -= 1
        step.expected_tasks -= call.expected_tasks
        step.expected_bytes -= call.expected_bytes
        if not step.running_calls:
            step.expected_tasks = step.expected_bytes = 0.0  # sums of floats drift
        if worker.calls:
            next(iter(worker.calls.values())).started_s = now  # it was waiting behind this one
            return worker, step
        step.leases -= 1
        self.leases.give_back(worker.node_id, step.spec.cpus)
        if worker.yields_to is not None:
            self.steps[worker.yields_to].promised_calls -= 1
            worker.yields_to = None
        worker.is_alone = False
        if not step.holds:
            self.usage[step.index].offers(-1, now)
        return worker, step

    def drop_suspended(self, worker: Worker, step: StepState) -> Call:
        """Return the interrupted call of a worker, which drops it when it gets another."""
        call = step.suspended.pop(worker.worker_id).suspended
        assert call is not None
        worker.suspended = None
        worker.drops_suspended = True
        self.leases.unreserve(worker.node_id, step.index)
        step.list_worker(worker)
        return call

    # Chunks

    def output_chunk(self, call: Call, result: CallResult) -> Chunk:
        """Make the chunk for a part of a call's outputs."""
        return Chunk(
            self.next_id(),
            result.outputs,
            result.size_bytes,
            result.handle,
            result.node_id,
            made_by=call,
            offset=call.emitted,
            left=result.outputs,
            is_root=not self.keep_sources,
        )

    def commit(self, step: StepState, slices: Sequence[Slice]) -> None:
        """Note that tasks are processed for good; a chunk is forgotten with its last task."""
        for each in slices:
            each.chunk.left -= len(each)
            step.uncommitted_bytes -= each.size_bytes
            self.forget_if_done(each.chunk)

    def forget_if_done(self, chunk: Chunk) -> None:
        """Let a chunk go that nobody needs."""
        if chunk.left <= 0 and chunk.pins <= 0 and not (self.keep_sources and chunk.is_root):
            self.actions.append(Forget(chunk))
