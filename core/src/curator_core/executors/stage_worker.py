"""The stages of one step inside a worker process of Ray: set up once, called many times, reporting to the driver."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from curator_core.authoring.stage import WorkerInfo
from curator_core.authoring.tasks import EmptyTask, source_id
from curator_core.call.interrupts import expect_no_interrupts, reraise_interrupt
from curator_core.call.runner import StageRunner
from curator_core.executors.ray.shipping import pack_error
from curator_core.executors.ray.worker_setup import limit_thread_pools, once_on_this_node
from curator_core.run.ledger.counts import SourceCounts
from curator_core.run.ledger.run_ledger import SourceReport, known_about
from curator_core.run.worker_state import WorkerState

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from curator_core.authoring.stage import OnError
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.executors.ray.shipping import PackedError, PackedStage
    from curator_core.values.stats import StageStats

__all__ = ["PackedOutputs", "StageWorker", "WorkerReport", "WorkerSettings"]

Packed = TypeVar("Packed")


@dataclass(frozen=True)
class WorkerSettings:
    """What all workers of a step have in common.

    Args:
        stages: The stages of the step, in order.
        run_id: Names the run on each machine.
        run_dir: Folder of the run, if it has one.
        cpus: CPUs of one worker.
        on_error: What happens to a task that keeps failing, unless the stage has its own.
        max_attempts: How often a call is tried, unless the stage has its own.
        keeps_payload: Whether rows and tasks in quarantine are kept.
        position: Place of the step in the run, if the run keeps a ledger.
        finished_sources: Source tasks that are done, for stages that may make them again.
    """

    stages: tuple[PackedStage, ...]
    run_id: str
    run_dir: str | None
    cpus: float
    on_error: OnError
    max_attempts: int
    keeps_payload: bool = True
    position: int | None = None
    finished_sources: Collection[str] = ()

    @property
    def name(self) -> str:
        """The names of the stages, joined by ``+``."""
        return "+".join(stage.name for stage in self.stages)


@dataclass(frozen=True)
class WorkerReport:
    """What happened in a worker since its last report.

    Args:
        error: Why the run must end, if it must.
        stats: Statistics by stage.
        quarantined: Records kept aside.
        seconds: Duration of the call.
        sources: What the call did to each source task, if the run keeps a ledger.
    """

    error: PackedError | None = None
    stats: dict[str, StageStats] = field(default_factory=dict)
    quarantined: list[QuarantineRecord] = field(default_factory=list)
    seconds: float = 0.0
    sources: SourceReport | None = None


@dataclass(frozen=True)
class PackedOutputs(Generic[Packed]):
    """What a call made, ready to travel, how many tasks that are, and the report."""

    packed: Packed
    tasks: int
    report: WorkerReport


class StageWorker:
    """Hosts one stage, or several that run in one call.

    Errors that end the run are reported, not raised: what a remote call raises arrives wrapped, once per worker, and
    takes the statistics with it.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        expect_no_interrupts()
        self._settings = settings
        counts = None if settings.position is None else SourceCounts()
        self._state = WorkerState(settings.run_dir, counts, keeps_payload=settings.keeps_payload)
        self._runners: list[StageRunner] = []

    def open(self) -> WorkerReport:
        """Load and set up the stages."""
        started = time.perf_counter()
        try:
            # Before anything is unpacked, because unpacking imports what sizes its threads when imported.
            limit_thread_pools(self._settings.cpus)
            for packed in self._settings.stages:
                runner = StageRunner(
                    packed.unpack(),
                    self._state,
                    on_error=self._settings.on_error,
                    max_attempts=self._settings.max_attempts,
                    finished_sources=self._settings.finished_sources,
                )
                once = partial(once_on_this_node, self._settings.run_id, packed.name)
                runner.setup(_this_worker(), once_per_node=once)
                self._runners.append(runner)
        except Exception as error:  # noqa: BLE001 - isolation border: set-up code may raise anything
            return self._report(started, error)
        return self._report(started)

    def run(self, tasks: Sequence[Task[Any]], pack: Callable[[Task[Any]], bytes]) -> Iterator[bytes | WorkerReport]:
        """Process tasks; yield what the stages make of them, packed, as it is made, and the report at the end."""
        started = time.perf_counter()
        failure = None
        flow = _Flow(self._settings.position, tasks)
        try:
            for output in self._outputs(tasks):
                try:
                    packed = pack(output)
                except BaseException as error:  # noqa: BLE001 - isolation border: a task may hold anything
                    reraise_interrupt(error)
                    self._runners[-1].refuse(output, error)
                    continue
                flow.made(output)
                yield packed
        except Exception as error:  # noqa: BLE001 - isolation border: the policy "raise" ends the run in the driver
            failure = error
        yield self._report(started, failure, flow)

    def run_all(self, tasks: Sequence[Task[Any]], pack: Callable[[list[Task[Any]]], Packed]) -> PackedOutputs[Packed]:
        """Process tasks; return what the stages made of them, packed, or nothing where that ended the run."""
        started = time.perf_counter()
        flow = _Flow(self._settings.position, tasks)
        try:
            outputs = list(self._outputs(tasks))
            try:
                packed = pack(outputs)
            except BaseException as error:  # noqa: BLE001 - isolation border: a task may hold anything
                reraise_interrupt(error)
                outputs = list(self._runners[-1].portable(outputs, pack))
                packed = pack(outputs)
        except Exception as error:  # noqa: BLE001 - isolation border: the policy "raise" ends the run in the driver
            return PackedOutputs(pack([]), 0, self._report(started, error))
        for output in outputs:
            flow.made(output)
        return PackedOutputs(packed, len(outputs), self._report(started, flow=flow))

    def _outputs(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        stream = iter(tasks)
        for runner in self._runners:
            stream = runner.run(stream)
        return stream

    def close(self) -> WorkerReport:
        """Tear the stages down."""
        started = time.perf_counter()
        failure = None
        while self._runners:
            try:
                self._runners.pop().teardown()
            except Exception as error:  # noqa: BLE001, PERF203 - isolation border: tear-down code may raise anything
                failure = error
        return self._report(started, failure)

    def _report(self, started: float, error: Exception | None = None, flow: _Flow | None = None) -> WorkerReport:
        stats, quarantined = self._state.take()
        packed = None if error is None else pack_error(error)
        sources = None if flow is None or error is not None else flow.report(self._state)
        return WorkerReport(packed, stats, quarantined, time.perf_counter() - started, sources)


class _Flow:
    """Counts the tasks that go in and out of a call, by source, if the run keeps a ledger."""

    def __init__(self, position: int | None, tasks: Sequence[Task[Any]]) -> None:
        self._makes_sources = any(isinstance(task, EmptyTask) for task in tasks)
        self._report = None
        if position is not None:
            self._report = SourceReport.of(position, used=tasks, made=(), counts={}, makes_sources=False)

    def made(self, task: Task[Any]) -> None:
        if self._report is None:
            return
        source = source_id(task.task_id)
        self._report.made[source] = self._report.made.get(source, 0) + 1
        if self._makes_sources:
            self._report.begun[source] = known_about(task)

    def report(self, state: WorkerState) -> SourceReport | None:
        return None if self._report is None else replace(self._report, counts=state.take_counts())


def _this_worker() -> WorkerInfo:
    import ray

    context = ray.get_runtime_context()
    return WorkerInfo(worker_id=f"{context.get_worker_id()}-{os.getpid()}", node_id=context.get_node_id())
