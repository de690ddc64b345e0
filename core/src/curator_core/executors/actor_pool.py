"""Run a plan stage by stage, each over the whole cluster: simple, and right for stages that want all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sized
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.call.failure_limit import checked_fraction
from curator_core.call.quarantine_record import record_for_task
from curator_core.call.retry import ErrorPolicy, policy_for
from curator_core.executors.base import Executor
from curator_core.executors.prepared_step import prepare_run
from curator_core.executors.ray import import_ray
from curator_core.executors.ray.capacity import ray_options
from curator_core.executors.ray.cluster import connect
from curator_core.executors.ray.worker_lease import end_leases
from curator_core.executors.ray.worker_setup import forget_run
from curator_core.executors.stage_pool import StagePool
from curator_core.executors.stored_tasks import Call, SourceFeed, StoredFeed
from curator_core.executors.streaming.engine.chunk_sizing import ChunkSizer
from curator_core.executors.task_packs import unpack_tasks
from curator_core.plan.fusion import Step
from curator_core.values.errors import ClusterError, ConfigError, StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from curator_core.authoring.tasks import Task
    from curator_core.executors.prepared_step import PreparedStep
    from curator_core.executors.stage_pool import Finished
    from curator_core.executors.stage_worker import WorkerReport
    from curator_core.executors.stored_tasks import Feed
    from curator_core.plan.plan import Plan
    from curator_core.run.run import RunState
    from curator_core.values.errors import WorkerDiedError

__all__ = ["ActorPoolExecutor"]


class ActorPoolExecutor(Executor):
    """Run one stage at a time, in a pool of Ray actors that has the cluster for itself.

    What a stage makes stays in Ray's object store, which spills to disk, until the next stage reads it. Only the last
    stage's outputs come to this process.

    >>> ActorPoolExecutor(actors_per_stage=2, on_error="raise").actors_per_stage
    2

    Args:
        actors_per_stage: Workers of each stage, unless it has its own number; as many as fit unless given.
        cpus: Logical CPUs of a Ray that is started here.
        gpus: Logical GPUs of a Ray that is started here.
        address: A cluster to join, ``host:port`` or ``auto``.
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        max_attempts: How often a failing call is tried, and how many workers a task may kill.
        ignore_head_node: Run no workers on the cluster's head.
        max_failed_fraction: Share of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
    """

    def __init__(  # noqa: PLR0913 - the options of a run, by keyword
        self,
        actors_per_stage: int | None = None,
        *,
        cpus: int | None = None,
        gpus: int | None = None,
        address: str | None = None,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        ignore_head_node: bool = False,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
    ) -> None:
        if actors_per_stage is not None and actors_per_stage < 1:
            raise ConfigError(f"ActorPoolExecutor: actors_per_stage is {actors_per_stage}", fix="use 1 or more")
        self.actors_per_stage = actors_per_stage
        self.cpus = cpus
        self.gpus = gpus
        self.address = address
        self.on_error = on_error
        self.max_attempts = max_attempts
        self.max_failed_fraction = checked_fraction(max_failed_fraction)
        self.quarantine_payload = quarantine_payload
        self.ignore_head_node = ignore_head_node

    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        log_path = None if state.directory is None else state.directory.path / "run.log"
        order: dict[str, tuple[int, ...]] = {}  # of the calls that outputs come from
        state.in_order = lambda outputs: sorted(outputs, key=lambda task: order.get(task.task_id, ()))
        with ExitStack() as cleanup:
            cluster = cleanup.enter_context(connect(self.address, self.cpus, self.gpus, log_path))
            run = prepare_run(
                [Step((planned,)) for planned in plan.stages],
                cluster,
                state,
                policy=ErrorPolicy(self.on_error, self.max_attempts),
                workers=self.actors_per_stage,
                ignore_head_node=self.ignore_head_node,
                source_makers={planned.stage.name for planned in plan.stages[: plan.source_makers]},
            )
            if state.ledger is not None:
                state.ledger.start(len(run.steps))
            cleanup.callback(forget_run, run.run_id)
            cleanup.callback(end_leases, run.run_id)
            feed: Feed = SourceFeed(state.sources(tasks), count=len(tasks) if isinstance(tasks, Sized) else None)
            stages = [_StageRun(step, state, pinned=self.ignore_head_node) for step in run.steps]
            for stage in stages[:-1]:
                done = sorted(stage.finished(feed), key=lambda finished: finished.call.key)
                feed = StoredFeed(finished.outputs for finished in done)
            for finished in stages[-1].finished(feed):
                for task in unpack_tasks(import_ray().get(finished.outputs.ref)):
                    order[task.task_id] = finished.call.key
                    yield task

    def session(self) -> AbstractContextManager[object]:
        return connect(self.address, self.cpus, self.gpus)


class _StageRun:
    """One stage over all of its input."""

    def __init__(self, step: PreparedStep, state: RunState, *, pinned: bool) -> None:
        (stage,) = step.stages
        self._name = stage.name
        self._settings = step.settings
        self._policy = policy_for(stage, ErrorPolicy(step.settings.on_error, step.settings.max_attempts))
        pinned = pinned or bool(stage.resources.gpu_memory_gb)  # the share of a GPU is that of the slot's node
        self._options = [ray_options(stage.resources, slot, pinned=pinned) for slot in step.slots]
        self._state = state
        self._sizer = ChunkSizer(stage.batch_size)
        self._again: deque[Call] = deque()
        self._calls = 0
        self._service_s: float | None = None
        self._task_bytes = 0.0

    def finished(self, feed: Feed) -> Iterator[Finished]:
        """Yield the calls as they come back."""
        # No more workers than could have work; one even for none, so that a broken set-up is found.
        options = self._options if feed.count is None else self._options[: max(1, feed.count)]
        pool = StagePool(self._settings, options, max_deaths=self._policy.max_attempts)
        ray = import_ray()
        try:
            yield from self._loop(pool, feed)
        except ray.exceptions.RayError as error:
            raise ClusterError(
                f"Ray failed during stage {self._name!r}: {error}", fix="run again; a machine or its objects were lost"
            ) from error
        finally:
            for report in pool.close():
                self._state.absorb(report.stats, report.quarantined)

    def _loop(self, pool: StagePool, feed: Feed) -> Iterator[Finished]:
        while True:
            for report in pool.take_started():
                self._absorb(report)
            while pool.has_free() and (call := self._next_call(feed)) is not None:
                pool.submit(call)
            if not pool.is_busy and (pool.has_free() or self._state.stop_requested.is_set()):
                return  # a worker is free and there is nothing to do
            pool.wait()
            done, again = pool.take_finished(self._settle_guilty)
            self._again.extend(again)
            for each in done:
                self._absorb(each.report)
                if self._state.ledger is not None:
                    self._state.ledger.take_in(each.report.sources)
                self._learn(each)
                yield each

    def _next_call(self, feed: Feed) -> Call | None:
        if self._again:
            return self._again.popleft()
        if self._state.stop_requested.is_set():
            return None
        slices = feed.cut(self._sizer.size(service_s=self._service_s, task_bytes=self._task_bytes))
        if not slices:
            return None
        self._calls += 1
        return Call((self._calls,), tuple(slices))

    def _learn(self, done: Finished) -> None:
        tasks = done.call.tasks
        service_s, task_bytes = done.report.seconds / tasks, done.bytes_in / tasks
        self._service_s = service_s if self._service_s is None else (self._service_s + service_s) / 2
        self._task_bytes = max(task_bytes, (self._task_bytes + task_bytes) / 2)  # quick to grow, slow to shrink
        self._sizer.learned(tasks=tasks, service_s=done.report.seconds)

    def _absorb(self, report: WorkerReport) -> None:
        self._state.absorb(report.stats, report.quarantined)
        if report.error is not None:
            raise report.error.unpack()

    def _settle_guilty(self, call: Call, error: WorkerDiedError) -> None:
        """Apply the policy to a task that kills workers."""
        (piece,) = call.slices
        (task,) = unpack_tasks(import_ray().get(piece.ref), piece.start, piece.stop)
        attempts = self._policy.max_attempts
        stats = self._state.stats_of(self._name)
        stats.saw([task])
        stats.add(failures=attempts, retries=attempts - 1)
        record = record_for_task(self._name, task, error, attempts=attempts)
        if self._policy.on_error == "raise":
            raise StageError(
                f"stage {self._name!r} failed on {record.where}: {record.error_type}: {record.message}",
                fix="fix the input or the stage, or use on_error: quarantine to continue without it",
            ) from error
        if self._policy.on_error == "skip":
            self._state.skip(record)
        else:
            self._state.quarantine(record, task)
        if self._state.ledger is not None and self._settings.position is not None:
            self._state.ledger.used(self._settings.position, [task])
