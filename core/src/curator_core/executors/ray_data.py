"""Run a plan through Ray Data, for those whose clusters and dashboards are built around it."""

from __future__ import annotations

import gc
import math
import threading
import uuid
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.executors.base import Executor
from curator_core.executors.ray import import_ray
from curator_core.executors.ray.capacity import fitted, usable_nodes, worker_slots
from curator_core.executors.ray.cluster import connect
from curator_core.executors.ray.internals import blocks_of
from curator_core.executors.ray.nodes import measure_gpus
from curator_core.executors.ray.shipping import pack_stage
from curator_core.executors.ray.worker_setup import forget_run
from curator_core.executors.ray_data_blocks import DataWorker, evenly, read_block, windows, write_block
from curator_core.executors.streaming.shell.call_execution import Budget
from curator_core.executors.streaming.shell.session import worker_options
from curator_core.executors.streaming.shell.worker import CallReport
from curator_core.plan.fusion import fuse
from curator_core.run.line import open_line, source_stages
from curator_core.values.errors import ConfigError, MissingPackageError, PipelineError, StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.authoring.tasks import Task
    from curator_core.executors.ray.capacity import WorkerSlot
    from curator_core.executors.ray.cluster import ClusterInfo
    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.executors.ray.shipping import PackedStage
    from curator_core.executors.streaming.shell.worker import WorkerOptions
    from curator_core.plan.fusion import Step
    from curator_core.plan.plan import Plan
    from curator_core.run.state import RunState

__all__ = ["RayDataExecutor"]

_PARTS_PER_WORKER = 4
_BLOCK_TASKS = 1_024
_BLOCK_BYTES = 16 << 20
_GIGABYTE = 1e9
_context_lock = threading.Lock()


class RayDataExecutor(Executor):
    """Run all stages at once on Ray Data's actor pools.

    Neighbouring stages of equal resources share a pool. Stages that make their own work, such as a listing of files,
    run in this process; what they make goes to Ray Data in windows that grow, and each window starts its workers anew.
    A worker that dies ends the run, because Ray Data cannot tell which task it died of.

    >>> RayDataExecutor(on_error="skip").on_error
    'skip'

    Args:
        actors_per_stage: Most workers of each pool, unless a stage has its own number; as many as fit unless given.
        cpus: Logical CPUs of a Ray that is started here.
        gpus: Logical GPUs of a Ray that is started here.
        address: A cluster to join, ``host:port`` or ``auto``.
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        max_attempts: How often a failing call is tried.
        max_failed_fraction: Fraction of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
    """

    def __init__(
        self,
        actors_per_stage: int | None = None,
        *,
        cpus: int | None = None,
        gpus: int | None = None,
        address: str | None = None,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
    ) -> None:
        if actors_per_stage is not None and actors_per_stage < 1:
            raise ConfigError(f"RayDataExecutor: actors_per_stage must be at least 1, got {actors_per_stage}")
        self.actors_per_stage = actors_per_stage
        self.cpus = cpus
        self.gpus = gpus
        self.address = address
        super().__init__(
            on_error=on_error,
            max_attempts=max_attempts,
            max_failed_fraction=max_failed_fraction,
            quarantine_payload=quarantine_payload,
        )

    def session(self) -> AbstractContextManager[object]:
        return connect(self.address, self.cpus, self.gpus)

    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        log_path = None if state.directory is None else state.directory.path / "run.log"
        count = source_stages(plan.stages)
        _import_ray_data()  # before its messages are diverted: it makes its loggers when imported
        with ExitStack() as cleanup:
            cluster = cleanup.enter_context(connect(self.address, self.cpus, self.gpus, log_path))
            run_id = uuid.uuid4().hex
            steps, nodes = self._prepared(plan, fuse(plan.stages[count:]), cluster, state, run_id, count)
            if state.ledger is not None:
                state.ledger.start(count + len(steps))
            cleanup.callback(forget_run, run_id)
            pools = _pool_options(steps, nodes)
            line = cleanup.enter_context(
                open_line(
                    plan,
                    tasks,
                    state,
                    on_error=self.on_error,
                    max_attempts=self.max_attempts,
                    pack_sources=write_block if steps else list,
                )
            )
            if not steps:
                yield from line.sources
                return
            for window in windows(line.sources):
                yield from _through_ray_data(window, steps, pools, state)

    def _prepared(
        self, plan: Plan, steps: Sequence[Step], cluster: ClusterInfo, state: RunState, run_id: str, first_position: int
    ) -> tuple[list[_DataStep], list[NodeResources]]:
        """Pack and place the steps that run in Ray Data; return them and the nodes.

        Raises:
            PipelineError: A stage cannot be sent to workers, or needs more than any node has.
        """
        nodes = usable_nodes(cluster.nodes, ignore_head_node=False)
        steps = fitted(steps, nodes)
        if any(step.resources.gpu_memory_gb for step in steps):
            nodes = list(measure_gpus(nodes))
        # A block is all that a worker makes of one, so only its size says when a part is large enough.
        budget = Budget(seconds=math.inf, size_bytes=_BLOCK_BYTES)
        options = worker_options(plan, steps, state, self, run_id=run_id, budget=budget, first_position=first_position)
        prepared = []
        for step, each in zip(steps, options, strict=True):
            packed = [pack_stage(planned.stage) for planned in step.stages]
            slots = worker_slots(step.stages[0].stage, nodes, workers=self.actors_per_stage)
            prepared.append(_DataStep(step, packed, each, slots))
        return prepared, nodes


@dataclass(frozen=True)
class _DataStep:
    """A step, ready for Ray Data: its stages as they travel, what their workers must know, and where they may run."""

    step: Step
    packed: list[PackedStage]
    options: WorkerOptions
    slots: list[WorkerSlot]

    @property
    def stage(self) -> ProcessingStage[Any, Any]:
        """The first stage, whose options are those of the step."""
        return self.step.stages[0].stage


def _through_ray_data(
    window: Sequence[Task[Any]], steps: Sequence[_DataStep], pools: Sequence[dict[str, Any]], state: RunState
) -> Iterator[Task[Any]]:
    ray = import_ray()
    try:
        blocks = _start(window, steps, pools)
        try:
            for block in blocks:
                for item in read_block(block):
                    if isinstance(item, CallReport):
                        _absorb(item, state)
                    else:
                        yield item
                if state.stop_requested.is_set():
                    return
        finally:
            # Ray Data stops when nobody holds its output, as an error's traceback would, and its workers end when the
            # rings of references that it leaves are collected: now, rather than after Ray itself has gone.
            del blocks
            gc.collect()
    except ray.exceptions.RayError as error:
        names = ", ".join(repr(each.step.name) for each in steps)
        raise StageError(
            f"Ray Data gave up in one of {names}: {error}",
            fix="a worker that dies ends a run on Ray Data; the other executors continue and find the task it died of",
        ) from error.with_traceback(None)


def _start(window: Sequence[Task[Any]], steps: Sequence[_DataStep], pools: Sequence[dict[str, Any]]) -> Iterator[Any]:
    """Hand tasks to Ray Data; return the blocks that it makes."""
    # A first stage that wants batches gets blocks that hold one at least.
    full_batches = max(1, len(window) // steps[0].step.batch_size)
    parts = evenly(window, parts=min(full_batches, _PARTS_PER_WORKER * len(steps[0].slots)), max_tasks=_BLOCK_TASKS)
    with _quiet_context():
        dataset = import_ray().data.from_arrow([write_block(part) for part in parts])
        for step, options in zip(steps, pools, strict=True):
            batch_size = step.step.batch_size
            dataset = dataset.map_batches(
                DataWorker,
                fn_constructor_args=(step.packed, step.options),
                # Whole blocks, or as many tasks as make a batch, from several blocks where one is too small.
                batch_size=batch_size if batch_size > 1 else None,
                batch_format="pyarrow",
                zero_copy_batch=True,
                **options,
            )
        return blocks_of(dataset)


def _absorb(report: CallReport, state: RunState) -> None:
    state.absorb(report.stats, report.quarantined)
    if report.failure is not None:
        raise report.failure.unpack()
    if state.ledger is not None:
        state.ledger.take_in(report.sources)


def _pool_options(steps: Sequence[_DataStep], nodes: Sequence[NodeResources]) -> list[dict[str, Any]]:
    """Return the options of each step's pool, such that one worker of every step fits at the same time.

    Ray Data holds a worker of each step from the start and waits for ever where they do not all fit.
    """
    from ray.data import ActorPoolStrategy

    shares = [_gpus_anywhere(step, nodes) for step in steps]
    if sum(shares) > sum(node.gpus for node in nodes):
        raise PipelineError(
            f"the stages hold {sum(shares):g} GPUs at the same time, more than the cluster has",
            fix="use the streaming executor or ActorPoolExecutor, which share GPUs between stages",
        )
    is_tight = sum(each.options.cpus for each in steps) > sum(node.cpus for node in nodes)
    max_cpus = min(node.cpus for node in nodes) / max(1, len(steps)) if is_tight else math.inf
    pools = []
    for step, gpus in zip(steps, shares, strict=True):
        stage = step.stage
        min_size = stage.num_workers() or stage.min_workers or 1
        pools.append(
            {
                "num_cpus": min(stage.resources.cpus, max_cpus),
                "num_gpus": gpus,
                **({"memory": int(stage.resources.memory_gb * _GIGABYTE)} if stage.resources.memory_gb else {}),
                **({"resources": dict(stage.resources.custom)} if stage.resources.custom else {}),
                **({"runtime_env": stage.runtime_env} if stage.runtime_env is not None else {}),
                "compute": ActorPoolStrategy(min_size=min_size, max_size=max(min_size, len(step.slots))),
                # Ray would restart a worker behind Ray Data's back and run its calls again for ever.
                "max_restarts": 0,
                "max_task_retries": 0,
            }
        )
    return pools


def _gpus_anywhere(step: _DataStep, nodes: Sequence[NodeResources]) -> float:
    """Return the GPUs of a worker that are enough on whichever node Ray Data puts it."""
    places = {slot.node_id for slot in step.slots}
    unfit = [node for node in nodes if node.gpus and node.node_id not in places]
    if step.stage.resources.gpu_memory_gb and unfit:
        raise PipelineError(
            f"stage {step.step.name!r} does not fit on the GPUs of all nodes, and Ray Data may use any of them",
            fix="ask for gpus instead of gpu_memory_gb, or use the streaming executor",
        )
    return max(slot.gpus for slot in step.slots)


@contextmanager
def _quiet_context() -> Iterator[None]:
    """Build a dataset without progress bars and in order, and leave the user's own settings as they were.

    The settings belong to the whole process, so runs that overlap take turns.
    """
    from ray.data import DataContext

    with _context_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Ray Data warns of its own settings
        context = DataContext.get_current()
        usual = context.enable_progress_bars, context.execution_options.preserve_order
        context.enable_progress_bars, context.execution_options.preserve_order = False, True
        try:
            yield
        finally:
            context.enable_progress_bars, context.execution_options.preserve_order = usual


def _import_ray_data() -> None:
    import_ray()
    try:
        import ray.data  # noqa: F401 - only whether it is there is asked
    except ImportError as error:
        raise MissingPackageError(
            "RayDataExecutor", package=error.name or "pandas", pip='"curator-core[ray-data]"'
        ) from error
