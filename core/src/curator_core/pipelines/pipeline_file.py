"""Pipelines and workflows from YAML files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.config.loader import JobDescription, read_pipeline_file
from curator_core.parameters.problems import Problem
from curator_core.pipelines.pipeline import Pipeline
from curator_core.pipelines.workflow import Workflow, WorkflowStep
from curator_core.plan.planner import check_first_stage
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError, PipelineError

if TYPE_CHECKING:
    import os
    import pathlib
    from collections.abc import Mapping

    from curator_core.config.loader import FileDescription
    from curator_core.plan.plan import Plan
    from curator_core.registry import Registry

__all__ = ["LoadedPipeline", "load_pipeline"]


@dataclass(frozen=True)
class LoadedPipeline:
    """A pipeline file, read and checked.

    Args:
        pipeline: The pipeline.
        executor_name: Executor the file asks for, if it names one.
        executor_options: Arguments for it.
        path: The file; None when the text was given.
        stage_lines: Line of each stage by its name.
        workflow: The workflow, where the file names one, or several steps, instead of stages.
        steps: The steps that are pipelines, each as if it stood alone in the file, in order.
    """

    pipeline: Pipeline
    executor_name: str | None = None
    executor_options: Mapping[str, Any] = field(default_factory=dict)
    path: pathlib.Path | None = None
    stage_lines: Mapping[str, int] = field(default_factory=dict)
    workflow: Workflow | None = None
    steps: tuple[LoadedPipeline, ...] = ()

    def build(self, *, check_inputs: bool = True) -> Plan:
        """Build the pipeline; what is wrong with it is reported with the file and, where it tells, the line.

        Raises:
            PipelineError: The pipeline cannot run as it is.
        """
        if self.workflow is not None:
            raise PipelineError(
                f"{self.path or '<text>'} is a workflow, whose pipelines are known only as it runs",
                fix="curator run and curator validate take it",
            )
        try:
            plan = self.pipeline.build(check_inputs=check_inputs)
            check_first_stage(plan)
        except PipelineError as error:
            place = Problem(error.message, line=self._line_of(error.stage)).render(str(self.path or "<text>"))
            raise PipelineError(place, stage=error.stage, fix=error.fix) from error
        return plan

    def check_steps(self, *, check_inputs: bool = True) -> tuple[Plan, ...]:
        """Build the pipelines of the steps, so that what is wrong with a late one is known before the first runs.

        Only the first step finds its input already there.

        Raises:
            PipelineError: One cannot run as it is.
        """
        first = None if self.workflow is None else next(iter(self.workflow.plan_steps()), None)
        return tuple(
            step.build(check_inputs=check_inputs and first is not None and first.action is step.pipeline)
            for step in self.steps
        )

    def _line_of(self, stage: str | None) -> int | None:
        """Return the line of a stage; a part of a composite (``table.read_jsonl.files``) is on its composite's line."""
        while stage:
            if stage in self.stage_lines:
                return self.stage_lines[stage]
            stage = stage.rpartition(".")[0]
        return None


def load_pipeline(
    source: str | os.PathLike[str],
    variables: Mapping[str, object] | None = None,
    *,
    registry: Registry | None = None,
) -> LoadedPipeline:
    r"""Read a pipeline or a workflow from a file or from YAML text.

    >>> load_pipeline("version: 1\nstages:\n- table.sample: {fraction: 0.5}\n").pipeline.stages[0].fraction
    0.5

    Args:
        source: Path of the file, or the text itself (anything with a line break).
        variables: Values for ``${NAME}``, before those of the environment.
        registry: Where names are looked up; that of the process unless given.

    Raises:
        ConfigError: Lists everything that is wrong, each with its line.
    """
    registry = registry or default_registry()
    file = read_pipeline_file(source, variables, registry=registry)
    if isinstance(file.job, tuple):
        parts = [_load(job, file, registry) for job in file.job]
        steps = [
            WorkflowStep(each.pipeline.name, each.pipeline if each.workflow is None else each.workflow)
            for each in parts
        ]
        loaded = _load(JobDescription(file.name, workflow=Workflow(file.name, steps)), file, registry)
        loaded = replace(loaded, steps=tuple(each for each in parts if each.workflow is None))
    else:
        assert file.job is not None  # a file with problems has raised them
        loaded = _load(file.job, file, registry)
    loaded.pipeline.description = file.description
    return replace(loaded, executor_name=file.executor_name, executor_options=file.executor_options)


def _load(job: JobDescription, file: FileDescription, registry: Registry) -> LoadedPipeline:
    """Make the pipeline or the workflow of a file, or of one of its steps."""
    if not isinstance(job.workflow, Workflow | None):
        raise ConfigError(
            f"{file.path or '<text>'}: the workflow of {job.name!r} is a {type(job.workflow).__name__}",
            fix="report this to the author of its plugin: a workflow is a subclass of curator_core.Workflow",
        )
    pipeline = Pipeline(job.name, stages=job.stages, registry=registry)
    pipeline.references = file.references
    return LoadedPipeline(pipeline, path=file.path, stage_lines=job.lines, workflow=job.workflow)
