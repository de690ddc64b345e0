"""The state of a run that all parts of the scheduler look at and move pieces on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import Forget
from curator_core.executors.streaming.engine.leases import Leases
from curator_core.executors.streaming.engine.model import Call, Chunk
from curator_core.executors.streaming.engine.placement import Placement
from curator_core.executors.streaming.engine.step_state import StepState
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.streaming.engine.actions import Action
    from curator_core.executors.streaming.engine.model import CallResult, Node, Slice, StepSpec, Worker

__all__ = ["Board"]


class Board:
    """Steps, workers, leases and held resources of one run.

    Args:
        steps: The steps, in order.
        nodes: The nodes that may be used.
        memory_limit_bytes: Bound on the bytes in all queues together.
        is_batch: Whether a step begins only when the one before has finished; queues are then unbounded.
        keep_sources: Whether chunks that cannot be made again are kept until all that was made of them is done, to
            replay from. May be switched on at any time: all chunks that are there then count as such.
        tuning: The numbers to decide by.
    """

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
        self.keep_sources = keep_sources
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

    def may_run(self, step: StepState) -> bool:
        """Return whether a step may be given work now; in batch mode the one before must have ended."""
        return not self.is_unbounded or step.index == 0 or self.upstream_ended(step)

    # Calls

    def new_call(self, step: StepState, inputs: list[Slice]) -> Call:
        """Make a call."""
        return Call(self.next_id(), step.index, inputs)

    def lease(self, worker: Worker, step: StepState) -> bool:
        """Lease the CPUs of a worker that has no calls; return False when they are not free."""
        if not self.leases.can_take(worker.node_id, step.spec.cpus, step.index):
            return False
        self.leases.take(worker.node_id, step.spec.cpus, step.index)
        return True

    def book(self, worker: Worker, step: StepState, call: Call, now: float) -> None:
        """Note that a worker has been given a call."""
        if not worker.calls:
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

    def unbook(self, worker: Worker, step: StepState, call: Call, now: float) -> None:
        """Note that a call has come back, or never will; the lease goes with the last one."""
        del worker.calls[call.call_id]
        del self.calls[call.call_id]
        step.running_calls -= 1
        step.expected_tasks -= call.expected_tasks
        step.expected_bytes -= call.expected_bytes
        if not step.running_calls:
            step.expected_tasks = step.expected_bytes = 0.0  # sums of floats drift
        if worker.calls:
            next(iter(worker.calls.values())).started_s = now  # it was waiting behind this one
            return
        step.leases -= 1
        self.leases.give_back(worker.node_id, step.spec.cpus)
        if worker.yields_to is not None:
            self.steps[worker.yields_to].promised_calls -= 1
            worker.yields_to = None
        worker.is_alone = False
        if not step.holds:
            self.usage[step.index].offers(-1, now)

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
