"""The process that runs a step: set up once, then called with tasks, reporting what became of them."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from curator_core.call.interrupts import expect_no_interrupts
from curator_core.executors.ray.shipping import pack_error
from curator_core.executors.ray.worker_setup import hold_lease, limit_thread_pools, once_on_this_node

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.authoring.stage import OnError, WorkerInfo
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.call.runner import StageRunner
    from curator_core.executors.ray.shipping import PackedError, PackedStage
    from curator_core.executors.streaming.shell.call_execution import Budget, CallExecution, Part
    from curator_core.executors.streaming.shell.chunk_codec import Payload
    from curator_core.run.ledger.run_ledger import SourceReport
    from curator_core.values.counts import Counts

__all__ = ["CallOrder", "CallReport", "StepHost", "StepWorker", "TrackedStep", "WorkerOptions"]


@dataclass(frozen=True)
class TrackedStep:
    """What a worker has to know when the run keeps a ledger: which step it is, and which source tasks are done."""

    position: int
    finished_sources: Collection[str] = ()


@dataclass(frozen=True)
class WorkerOptions:
    """What a worker has to know about the run."""

    run_id: str
    cpus: float
    on_error: OnError
    max_attempts: int
    run_dir: str | None
    budget: Budget
    keeps_payload: bool = True
    tracked: TrackedStep | None = None


class CallOrder(NamedTuple):
    """What to do in a call: which tasks of each payload, which outputs of the call.

    It is sent as a list, which costs Ray a fraction of an object. ``suspect_id`` is set for a call that may end its
    worker: it leaves notes of how far it came under this number. ``parts`` says in how many parts to take tables, for a
    call that ran out of memory before. A call that was interrupted before is given up if this one ``drops_suspended``.
    """

    spans: list[list[int]]
    skip: int = 0
    limit: int | None = None
    suspect_id: int | None = None
    parts: int = 1
    drops_suspended: bool = False


@dataclass(slots=True)
class CallReport:
    """What a call did, beside its outputs."""

    consumed: int = 0
    outputs: int = 0
    size_bytes: int = 0
    service_s: float = 0.0
    is_done: bool = True
    completed: int = 0
    open_outputs: int = 0
    stats: dict[str, Counts] = field(default_factory=dict)
    quarantined: list[QuarantineRecord] = field(default_factory=list)
    source_ids: list[str] | None = None
    sources: SourceReport | None = None
    failure: PackedError | None = None


class StepHost:
    """The stages of one step in a worker process of any executor: loaded, set up, called, torn down.

    Args:
        stages: The stages, pickled: nothing they import may be loaded before the thread pools are sized.
        options: What to know about the run.
    """

    def __init__(self, stages: list[PackedStage], options: WorkerOptions) -> None:
        limit_thread_pools(options.cpus)
        expect_no_interrupts()
        self._packed = stages
        self._options = options
        self._runners: list[StageRunner] = []

    def open(self, worker: WorkerInfo) -> CallReport:
        """Load the stages and prepare them, and the node too where this is the first of its workers."""
        from curator_core.call.runner import StageRunner
        from curator_core.run.worker_state import WorkerState
        from curator_core.values.counts import SourceCounts

        tracked = self._options.tracked
        counts = None if tracked is None else SourceCounts()
        self._state = WorkerState(self._options.run_dir, counts, keeps_payload=self._options.keeps_payload)
        try:
            for packed in self._packed:
                runner = StageRunner(
                    packed.unpack(),
                    self._state,
                    on_error=self._options.on_error,
                    max_attempts=self._options.max_attempts,
                    finished_sources=() if tracked is None else tracked.finished_sources,
                )
                once = partial(once_on_this_node, self._options.run_id, packed.name)
                runner.setup(worker, once_per_node=once)
                self._runners.append(runner)
        except Exception as error:  # noqa: BLE001 - isolation border: set-up code may raise anything
            return CallReport(failure=pack_error(error))
        gc.freeze()  # what is loaded now stays: collections need not look at it again and again
        reports = self._state.take()
        return CallReport(stats=reports.stats, quarantined=reports.quarantined)

    def execution(self, tasks: list[Task[Any]], *, parts: int = 1, **options: Any) -> CallExecution:
        """Return a call over tasks, to be carried out with :meth:`advance`.

        Args:
            tasks: The tasks.
            parts: In how many parts the stages get large tables.
            options: More of :class:`CallExecution`.
        """
        from curator_core.executors.streaming.shell.call_execution import CallExecution

        runners = self._runners if parts == 1 else [each.divided(parts) for each in self._runners]
        return CallExecution(runners, self._state, tasks, self._options.budget, **options)

    def advance(self, execution: CallExecution, *, is_replay: bool = False) -> tuple[Any, CallReport]:
        """Carry out a call up to its next part; return its outputs, encoded, and the report.

        Args:
            execution: The call.
            is_replay: Whether it was counted when it was done the first time.
        """
        started_s = time.perf_counter()
        try:
            part = execution.next_part()
        except Exception as error:  # noqa: BLE001 - isolation border: the driver raises it
            return None, CallReport(failure=pack_error(error))
        report = CallReport(
            consumed=part.consumed,
            outputs=len(part.outputs),
            size_bytes=part.size_bytes,
            service_s=time.perf_counter() - started_s,
            is_done=part.is_done,
            completed=len(part.completed),
            open_outputs=part.open_outputs,
            source_ids=[task.task_id for task in part.outputs] if execution.makes_sources else None,
        )
        if not is_replay:
            report.stats, report.quarantined = part.reports.stats, part.reports.quarantined
            report.sources = self._source_report(part, makes_sources=execution.makes_sources)
        return part.payload, report

    def teardown(self) -> PackedError | None:
        """Let the stages release what they opened; return what went wrong, last."""
        failure = None
        runners, self._runners = self._runners, []
        for runner in runners:
            failure = _teardown(runner) or failure
        return failure

    def _source_report(self, part: Part, *, makes_sources: bool) -> SourceReport | None:
        """Return what a part of a call did to each source task."""
        if self._options.tracked is None:
            return None
        from curator_core.run.ledger.run_ledger import SourceReport

        return SourceReport.of(
            self._options.tracked.position,
            used=part.completed,
            made=part.outputs,
            counts=part.reports.counts,
            makes_sources=makes_sources,
        )


class StepWorker(StepHost):
    """A worker of the streaming engine: an actor that is called with chunks of tasks, and may be interrupted in a call.

    A large result is returned in parts: the call is suspended in between, and resumed or given up.
    """

    _suspended: CallExecution | None = None

    def setup(self, worker_id: str, node_id: str) -> CallReport:
        """Take the lease of this worker and prepare the stages."""
        from curator_core.authoring.stage import WorkerInfo

        hold_lease(self._options.run_id, worker_id)
        return self.open(WorkerInfo(worker_id, node_id))

    def run(self, packed_order: list[Any], *payloads: Payload) -> tuple[Payload | None, CallReport]:
        """Process tasks; return the outputs and a report. A large result is returned in parts, through `resume`."""
        from curator_core.executors.streaming.shell.chunk_codec import decode

        order = CallOrder(*packed_order)
        if self._suspended is not None:
            if not order.drops_suspended:  # sent before the driver knew; a stage works on one call at a time
                return None, CallReport(consumed=0)
            self._suspended.close()
            self._suspended = None
        started_s = time.perf_counter()
        try:
            tasks = [
                task
                for payload, (start, stop) in zip(payloads, order.spans, strict=True)
                for task in decode(payload, start, stop)
            ]
        except Exception as error:  # noqa: BLE001 - isolation border: classes of tasks may fail to load
            return None, CallReport(failure=pack_error(error))
        decoding_s = time.perf_counter() - started_s
        notes = None if order.suspect_id is None else (self._options.run_id, order.suspect_id)
        execution = self.execution(tasks, parts=order.parts, skip=order.skip, limit=order.limit, notes=notes)
        payload, report = self._advance(execution, is_replay=order.limit is not None)
        report.service_s += decoding_s
        return payload, report

    def resume(self) -> tuple[Payload | None, CallReport]:
        """Resume the call that was interrupted because its result was large enough."""
        execution, self._suspended = self._suspended, None
        return (None, CallReport()) if execution is None else self._advance(execution)

    def teardown(self) -> PackedError | None:
        """Give up a suspended call, and let the stages release what they opened."""
        self._suspended = None
        return super().teardown()

    def _advance(self, execution: CallExecution, *, is_replay: bool = False) -> tuple[Payload | None, CallReport]:
        payload, report = self.advance(execution, is_replay=is_replay)
        if not report.is_done:
            self._suspended = execution
        return payload, report


def _teardown(runner: StageRunner) -> PackedError | None:
    try:
        runner.teardown()
    except Exception as error:  # noqa: BLE001 - isolation border: the other stages are torn down all the same
        return pack_error(error)
    return None
