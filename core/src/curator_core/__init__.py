"""Curate training data of every modality: tasks, stages, pipelines and executors.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.errors import CuratorError
    from curator_core.executors.actor_pool import ActorPoolExecutor
    from curator_core.executors.base import Executor
    from curator_core.executors.local import LocalExecutor
    from curator_core.executors.ray_data import RayDataExecutor
    from curator_core.executors.streaming.executor import StreamingExecutor
    from curator_core.filter import Filter, Verdict
    from curator_core.function_stage import processing_stage
    from curator_core.pipeline import Pipeline
    from curator_core.plan import Plan
    from curator_core.registry import make_stage
    from curator_core.resources import Resources
    from curator_core.result import RunResult
    from curator_core.stage import CompositeStage, ProcessingStage
    from curator_core.tasks import EmptyTask, FileGroupTask, TableBatch, Task
    from curator_core.workflow import Workflow

__version__ = "0.1.0"

_HOME = {
    "ActorPoolExecutor": "executors.actor_pool",
    "CompositeStage": "stage",
    "CuratorError": "errors",
    "EmptyTask": "tasks",
    "Executor": "executors.base",
    "FileGroupTask": "tasks",
    "Filter": "filter",
    "LocalExecutor": "executors.local",
    "Pipeline": "pipeline",
    "Plan": "plan",
    "ProcessingStage": "stage",
    "RayDataExecutor": "executors.ray_data",
    "Resources": "resources",
    "RunResult": "result",
    "StreamingExecutor": "executors.streaming.executor",
    "TableBatch": "tasks",
    "Task": "tasks",
    "Verdict": "filter",
    "Workflow": "workflow",
    "make_stage": "registry",
    "processing_stage": "function_stage",
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
    "make_stage",
    "processing_stage",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
