"""Curate training data of every modality: tasks, stages, pipelines and executors.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.values.lazy_names import lazy_names

if TYPE_CHECKING:
    from curator_core.authoring.filter import Filter, Verdict
    from curator_core.authoring.function_stage import processing_stage
    from curator_core.authoring.stage import CompositeStage, ProcessingStage
    from curator_core.authoring.tasks import EmptyTask, FileGroupTask, TableBatch, Task
    from curator_core.executors.actor_pool import ActorPoolExecutor
    from curator_core.executors.base import Executor
    from curator_core.executors.local import LocalExecutor
    from curator_core.executors.ray_data import RayDataExecutor
    from curator_core.executors.streaming.executor import StreamingExecutor
    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.pipelines.quarantine_retry import retry_quarantined
    from curator_core.pipelines.workflow import Workflow, WorkflowStep
    from curator_core.plan.plan import Plan
    from curator_core.registry import make_stage
    from curator_core.run.result import RunResult
    from curator_core.values.errors import CuratorError
    from curator_core.values.resources import Resources

__version__ = "0.1.0"

_HOMES = {
    "values.errors": ("CuratorError",),
    "executors.actor_pool": ("ActorPoolExecutor",),
    "executors.base": ("Executor",),
    "executors.local": ("LocalExecutor",),
    "executors.ray_data": ("RayDataExecutor",),
    "executors.streaming.executor": ("StreamingExecutor",),
    "authoring.filter": ("Filter", "Verdict"),
    "authoring.function_stage": ("processing_stage",),
    "pipelines.pipeline": ("Pipeline",),
    "pipelines.quarantine_retry": ("retry_quarantined",),
    "plan.plan": ("Plan",),
    "registry": ("make_stage",),
    "values.resources": ("Resources",),
    "run.result": ("RunResult",),
    "authoring.stage": ("CompositeStage", "ProcessingStage"),
    "authoring.tasks": ("EmptyTask", "FileGroupTask", "TableBatch", "Task"),
    "pipelines.workflow": ("Workflow", "WorkflowStep"),
}

__all__ = [
    "ActorPoolExecutor",
    "CompositeStage",
    "CuratorError",
    "EmptyTask",
    "Executor",
    "FileGroupTask",
    "Filter",
    "LocalExecutor",
    "Pipeline",
    "Plan",
    "ProcessingStage",
    "RayDataExecutor",
    "Resources",
    "RunResult",
    "StreamingExecutor",
    "TableBatch",
    "Task",
    "Verdict",
    "Workflow",
    "WorkflowStep",
    "make_stage",
    "processing_stage",
    "retry_quarantined",
]

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
