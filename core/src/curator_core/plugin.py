"""What core itself offers, declared as any plugin would."""

from __future__ import annotations

from curator_core.values.hookspecs import hookimpl
from curator_core.values.specs import API_VERSION, ExecutorSpec, TaskTypeSpec

__all__ = ["CURATOR_API", "curator_executors", "curator_task_types"]

CURATOR_API = API_VERSION


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    """Offer the task types that all others are made from."""
    return [
        TaskTypeSpec("Task", target="curator_core.authoring.tasks:Task", summary="Any picklable value."),
        TaskTypeSpec("EmptyTask", target="curator_core.authoring.tasks:EmptyTask", summary="Starts a pipeline."),
        TaskTypeSpec(
            "FileGroupTask", target="curator_core.authoring.tasks:FileGroupTask", summary="Files or slices of files."
        ),
        TaskTypeSpec("TableBatch", target="curator_core.authoring.tasks:TableBatch", summary="Rows in an Arrow table."),
    ]


@hookimpl
def curator_executors() -> list[ExecutorSpec]:
    """Offer the ways to run a pipeline."""
    return [
        ExecutorSpec(
            "local",
            target="curator_core.executors.local:LocalExecutor",
            summary="Run in this process, without Ray.",
        ),
        ExecutorSpec(
            "streaming",
            target="curator_core.executors.streaming.executor:StreamingExecutor",
            summary="Run all stages at once in pools of Ray actors, on one machine or a cluster.",
            requires=("ray",),
        ),
        ExecutorSpec(
            "actor_pool",
            target="curator_core.executors.actor_pool:ActorPoolExecutor",
            summary="Run one stage at a time, each in a pool of Ray actors over the whole cluster.",
            requires=("ray",),
        ),
        ExecutorSpec(
            "ray_data",
            target="curator_core.executors.ray_data:RayDataExecutor",
            summary="Run through Ray Data.",
            requires=("ray", "pandas"),
            extra="ray-data",
        ),
    ]
