"""Turn a plan into what the engine runs: steps, nodes, packed stages; everything is checked before anything starts."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.call.error_policy import ErrorPolicy, policy_for
from curator_core.executors.ray import import_ray
from curator_core.executors.ray.capacity import fitted, usable_nodes, worker_slots
from curator_core.executors.ray.nodes import measure_gpus
from curator_core.executors.ray.shipping import pack_stage
from curator_core.executors.streaming.engine.model import Node, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.executors.streaming.shell.call_execution import Budget
from curator_core.executors.streaming.shell.worker import TrackedStep, WorkerOptions
from curator_core.executors.streaming.shell.worker_pool import WorkerPool
from curator_core.plan.fusion import Step

if TYPE_CHECKING:
    import queue
    from collections.abc import Sequence

    from curator_core.executors.ray.cluster import ClusterInfo
    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.executors.ray.shipping import PackedStage
    from curator_core.executors.ray_data import RayDataExecutor
    from curator_core.executors.streaming.executor import StreamingExecutor
    from curator_core.executors.streaming.shell.reservation import Reservation
    from curator_core.plan.plan import Plan
    from curator_core.run.state import RunState

__all__ = ["Session", "prepare", "worker_options"]


@dataclass
class Session:
    """A run before it begins."""

    plan: Plan
    state: RunState
    settings: StreamingExecutor
    steps: tuple[Step, ...]
    packed: list[list[PackedStage]]
    policy: ErrorPolicy

    @property
    def cpus(self) -> int | None:
        """CPUs of a Ray of its own: each GPU needs one to be fed."""
        settings = self.settings
        if settings.cpus is not None or not settings.gpus:
            return settings.cpus
        return max(os.cpu_count() or 1, math.ceil(settings.gpus))

    @property
    def specs(self) -> list[StepSpec]:
        """What the scheduler has to know about the steps."""
        return [StepSpec.of(step, max_workers=self.settings.max_workers) for step in self.steps]

    def nodes(self, cluster: ClusterInfo) -> Sequence[NodeResources]:
        """Return the nodes that may be used, after fitting the steps to them and checking that every stage fits on one.

        Raises:
            PipelineError: A stage needs more than any node has.
            ConfigError: No node is left.
        """
        nodes: Sequence[NodeResources] = usable_nodes(cluster.nodes, ignore_head_node=self.settings.ignore_head_node)
        self.steps = fitted(self.steps, nodes)
        if any(step.resources.gpu_memory_gb for step in self.steps):
            nodes = measure_gpus(nodes)
        for step in self.steps:
            worker_slots(step.stages[0].stage, nodes)
        return nodes

    def open(
        self,
        nodes: Sequence[NodeResources],
        run_id: str,
        events: queue.SimpleQueue[Any],
        reservation: Reservation,
    ) -> tuple[Scheduler, WorkerPool]:
        """Make scheduler and pool."""
        settings = self.settings
        specs = self.specs
        # What is on the driver's own node is lost with the driver only.
        own_node = import_ray().get_runtime_context().get_node_id()
        tuning = settings.tuning
        limit = settings.memory_limit_bytes or tuning.store_fraction * _store_bytes()
        call_bytes = limit / max(1, len(specs)) / tuning.calls_in_queue
        budget = Budget(tuning.call_limit_s, int(min(tuning.max_part_bytes, max(tuning.min_part_bytes, call_bytes))))
        scheduler = Scheduler(
            specs,
            [Node.of(each) for each in nodes],
            memory_limit_bytes=limit,
            is_batch=settings.mode == "batch",
            keep_sources=any(node.node_id != own_node for node in nodes),
            tuning=tuning,
        )
        options = worker_options(self.plan, self.steps, self.state, settings, run_id=run_id, budget=budget)
        envs = [step.runtime_env for step in self.steps]
        pool = WorkerPool(events, specs, self.packed, options, reservation, run_id, runtime_envs=envs, tuning=tuning)
        return scheduler, pool

    def report_usage(self, scheduler: Scheduler, state: RunState) -> None:
        """Write what the scheduler measured to the statistics of the stages."""
        for step, step_state, usage in zip(self.steps, scheduler.board.steps, scheduler.board.usage, strict=True):
            for planned in step.stages:
                stats = state.stats_of(planned.stage.name)
                stats.busy_fraction = usage.busy_fraction
                stats.workers = list(usage.workers)
                stats.queue_peak = step_state.queue_peak


def prepare(plan: Plan, settings: StreamingExecutor, state: RunState) -> Session:
    """Lay a plan out in steps and pack its stages.

    Raises:
        PipelineError: A stage cannot be sent to workers.
        ConfigError: An error policy is unknown.
    """
    default = ErrorPolicy(settings.on_error, settings.max_attempts)
    steps = plan.steps if settings.fuse else tuple(Step((planned,)) for planned in plan.stages)
    for planned in plan.stages:
        policy_for(planned.stage, default)  # raises where it makes no sense
    packed = [[pack_stage(planned.stage) for planned in step.stages] for step in steps]
    return Session(plan, state, settings, steps, packed, default)


def worker_options(
    plan: Plan,
    steps: Sequence[Step],
    state: RunState,
    settings: StreamingExecutor | RayDataExecutor,
    *,
    run_id: str,
    budget: Budget,
    first_position: int = 0,
) -> list[WorkerOptions]:
    """Return what the workers of each step have to know.

    ``first_position`` is the place of the first of these steps among what reports to the ledger.
    """
    makers = {planned.stage.name for planned in plan.stages[: plan.source_makers]}  # only they may skip any
    return [
        WorkerOptions(
            run_id=run_id,
            cpus=step.resources.cpus,
            on_error=settings.on_error,
            max_attempts=settings.max_attempts,
            run_dir=None if state.directory is None else str(state.directory.path),
            budget=budget,
            keeps_payload=settings.quarantine_payload,
            tracked=None
            if state.ledger is None
            else TrackedStep(number, state.finished_sources if step.stages[0].stage.name in makers else ()),
        )
        for number, step in enumerate(steps, start=first_position)
    ]


def _store_bytes() -> float:
    return float(import_ray().cluster_resources().get("object_store_memory", 1 << 30))
