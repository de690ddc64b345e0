"""What a pipeline file comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.config.problems import Problem
from curator_core.errors import PipelineError

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

    from curator_core.pipeline import Pipeline
    from curator_core.plan import Plan
    from curator_core.workflow import Workflow

__all__ = ["LoadedPipeline"]


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
        from curator_core.planner import check_first_stage

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
        """Return the line of a stage; a part of a composite (``text.read_jsonl.files``) is on its composite's line."""
        while stage:
            if stage in self.stage_lines:
                return self.stage_lines[stage]
            stage = stage.rpartition(".")[0]
        return None
