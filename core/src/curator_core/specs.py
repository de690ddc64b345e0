"""What a plugin declares, for its light module: nothing but the standard library is imported with it."""

from __future__ import annotations

from curator_core.values.specs import (
    API_VERSION,
    CommandSpec,
    ExecutorSpec,
    StageKind,
    StageSpec,
    TaskTypeSpec,
    WorkflowSpec,
)

__all__ = ["API_VERSION", "CommandSpec", "ExecutorSpec", "StageKind", "StageSpec", "TaskTypeSpec", "WorkflowSpec"]
