"""Declare the stages and task types of curator-text without importing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.hookspecs import hookimpl
from curator_core.specs import TaskTypeSpec
from curator_text.catalogue import STAGES

if TYPE_CHECKING:
    from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return list(STAGES)


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("DocumentBatch", target="curator_text.batch:DocumentBatch", summary="A table of documents.")]
