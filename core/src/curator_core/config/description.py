"""The content of a pipeline file, checked: names have become stages and options, nothing has been run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping, Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.parameters.references import References

__all__ = ["FileDescription", "StagesDescription", "WorkflowDescription"]


@dataclass(frozen=True)
class StagesDescription:
    """Stages under the name of the file, or of one of its steps; ``lines`` has the line of each by its name."""

    name: str
    stages: Sequence[ProcessingStage[Any, Any]]
    lines: Mapping[str, int]


@dataclass(frozen=True)
class WorkflowDescription:
    """The object that a plugin's workflow came to, under the name of the file or step."""

    name: str
    workflow: Any


@dataclass(frozen=True)
class FileDescription:
    """A whole file: ``stages``, one ``workflow``, or several ``steps`` that are either.

    Args:
        name: Name of the pipeline or workflow.
        description: What it is for.
        job: The stages, the workflow, or the steps; None where the file has problems.
        executor_name: Executor the file asks for, if it names one.
        executor_options: Arguments for it.
        path: The file; None when the text was given.
        references: How values that came from variables were written.
    """

    name: str
    description: str
    job: StagesDescription | WorkflowDescription | tuple[StagesDescription | WorkflowDescription, ...] | None
    executor_name: str | None = None
    executor_options: Mapping[str, Any] = field(default_factory=dict)
    path: pathlib.Path | None = None
    references: References = field(default_factory=dict)
