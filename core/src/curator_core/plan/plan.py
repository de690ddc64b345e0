"""A checked pipeline, ready to run: what ``Pipeline.build`` makes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage_types import is_known
from curator_core.authoring.tasks import EmptyTask
from curator_core.plan.fusion import fuse
from curator_core.values.errors import CuratorError

if TYPE_CHECKING:
    from curator_core.authoring.stage import ProcessingStage
    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.plan.fusion import Step
    from curator_core.registry import Registry

__all__ = ["Plan", "PlannedStage"]


@dataclass(frozen=True)
class PlannedStage:
    """One stage of a plan.

    Args:
        stage: The stage itself; composites have been replaced by their parts.
        input_type: Task type it takes, ``Any`` where it does not say.
        output_type: Task type it makes, ``Any`` where it does not say.
        reads: Columns it needs.
        adds: Columns it adds.
        columns: Columns behind it, sorted, as far as they are known; None where nothing is.
    """

    stage: ProcessingStage[Any, Any]
    input_type: Any
    output_type: Any
    reads: tuple[str, ...]
    adds: tuple[str, ...]
    columns: tuple[str, ...] | None


@dataclass(frozen=True)
class Plan:
    """The stages of a pipeline in the order they run, checked.

    >>> from curator_core import Pipeline, processing_stage
    >>> @processing_stage(name="same")
    ... def same(task):
    ...     return task
    >>> [planned.stage.name for planned in Pipeline("p", stages=[same]).build().stages]
    ['same']
    """

    pipeline: Pipeline
    stages: tuple[PlannedStage, ...]

    @property
    def pipeline_name(self) -> str:
        """Name of the pipeline."""
        return self.pipeline.name

    @property
    def registry(self) -> Registry:
        """The plugins that the pipeline knows."""
        return self.pipeline.registry

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The stages grouped into steps: what executors with pools of workers run in one call."""
        return fuse(self.stages)

    @cached_property
    def source_makers(self) -> int:
        """How many of the first stages may make source tasks, out of an empty task."""
        count = 0
        for count, planned in enumerate(self.stages, start=1):  # noqa: B007 - the last one counts
            if is_known(planned.output_type) and not issubclass(planned.output_type, EmptyTask):
                break
        return count

    def describe(self) -> str:
        """Return the plan as text: stages with types, resources and columns, and the steps they are joined into."""
        lines = [f"pipeline {self.pipeline.name!r}: {len(self.stages)} stages"]
        for number, planned in enumerate(self.stages, start=1):
            types = f"{_type_name(planned.input_type)} -> {_type_name(planned.output_type)}"
            lines.append(f"{number:>3}. {planned.stage.name}  [{types}]  {planned.stage.resources.describe()}")
            if planned.reads:
                lines.append(f"       reads   {', '.join(planned.reads)}")
            if planned.adds:
                lines.append(f"       adds    {', '.join(planned.adds)}")
            if planned.columns is not None:
                lines.append(f"       columns {', '.join(planned.columns)}")
        if len(self.steps) < len(self.stages):
            lines.append(f"{len(self.steps)} steps:")
            lines.extend(f"{number:>3}. {step.name}" for number, step in enumerate(self.steps, start=1))
        return "\n".join(lines)

    def to_yaml(self, *, hide_secrets: bool = False) -> str | None:
        """Return the pipeline as YAML, or None when one of its stages has no name in the registry.

        Args:
            hide_secrets: Write what looks like a secret as the variable it came from, else as asterisks.
        """
        from curator_core.plan.dump import dump_pipeline

        try:
            return dump_pipeline(self.pipeline, registry=self.registry, hide_secrets=hide_secrets)
        except CuratorError:
            return None


def _type_name(task_type: Any) -> str:
    return task_type.__name__ if is_known(task_type) else "any"
