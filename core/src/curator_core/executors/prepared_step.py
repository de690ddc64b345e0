"""Everything about a step that must be right before a run starts: it can travel, and there is room for it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray.capacity import usable_nodes, worker_slots
from curator_core.executors.ray.nodes import measure_gpus
from curator_core.executors.ray.shipping import pack_stage
from curator_core.executors.stage_worker import WorkerSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.call.retry import ErrorPolicy
    from curator_core.executors.ray.capacity import WorkerSlot
    from curator_core.executors.ray.cluster import ClusterInfo
    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.plan.fusion import Step
    from curator_core.run.run import RunState

__all__ = ["PreparedRun", "PreparedStep", "prepare_run"]


@dataclass(frozen=True)
class PreparedStep:
    """A step, ready for workers.

    Args:
        stages: Its stages.
        settings: What its workers need to know.
        slots: Where they can run.
    """

    stages: tuple[ProcessingStage[Any, Any], ...]
    settings: WorkerSettings
    slots: tuple[WorkerSlot, ...]


@dataclass(frozen=True)
class PreparedRun:
    """All steps of a run.

    Args:
        run_id: Names the run on each machine.
        nodes: Machines that workers may use.
        steps: The steps, in order.
    """

    run_id: str
    nodes: tuple[NodeResources, ...]
    steps: tuple[PreparedStep, ...]


def prepare_run(
    steps: Sequence[Step],
    cluster: ClusterInfo,
    state: RunState,
    *,
    policy: ErrorPolicy,
    workers: int | None = None,
    ignore_head_node: bool = False,
    first_position: int = 0,
    source_makers: Collection[str] = (),
) -> PreparedRun:
    """Pack and place all steps.

    Args:
        steps: The steps.
        cluster: Where they are to run.
        state: The run.
        policy: What happens to tasks that keep failing.
        workers: Most workers of a step.
        ignore_head_node: Run no workers on the cluster's head.
        first_position: Place of the first step among what reports to the ledger.
        source_makers: Names of the stages that may make source tasks.

    Raises:
        PipelineError: A stage cannot be sent to workers, or needs more than any node has.
    """
    run_id = uuid.uuid4().hex
    nodes = usable_nodes(cluster.nodes, ignore_head_node=ignore_head_node)
    if any(step.resources.gpu_memory_gb for step in steps):
        nodes = list(measure_gpus(nodes))
    prepared = []
    for number, step in enumerate(steps, start=first_position):
        stages = tuple(planned.stage for planned in step.stages)
        settings = WorkerSettings(
            stages=tuple(pack_stage(stage) for stage in stages),
            run_id=run_id,
            run_dir=None if state.directory is None else str(state.directory.path),
            cpus=step.resources.cpus,
            on_error=policy.on_error,
            max_attempts=policy.max_attempts,
            keeps_payload=state.keeps_payload,
            position=None if state.ledger is None else number,
            finished_sources=state.finished_sources if stages[0].name in source_makers else (),
        )
        prepared.append(PreparedStep(stages, settings, tuple(worker_slots(stages[0], nodes, workers=workers))))
    return PreparedRun(run_id, tuple(nodes), tuple(prepared))
