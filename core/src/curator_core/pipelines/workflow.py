"""A workflow: pipelines and driver-side steps in order, with data on disk between them."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from curator_core.pipelines.pipeline import Pipeline
from curator_core.run.ledger.step_record import StepRecord, forget_steps
from curator_core.run.result import RunResult
from curator_core.run.run_warnings import loss_of_all
from curator_core.values.errors import ConfigError, CuratorError, PipelineError, StageError, UnknownNameError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from curator_core.executors.base import Executor
    from curator_core.run.ledger.resume import Resume
    from curator_core.run.state import RunState

__all__ = ["Watch", "Workflow", "WorkflowResult", "WorkflowStep"]

Watch: TypeAlias = "Callable[[str, RunState], AbstractContextManager[object]]"
"""Called with the name of every step and the state of its run; what it returns is entered while the step runs."""
Action: TypeAlias = "Pipeline | Workflow | Callable[[WorkflowResult], Any]"


@dataclass(frozen=True)
class WorkflowStep:
    """One step: a pipeline, a workflow, a function of the results so far, or one that returns the pipeline to run.

    >>> WorkflowStep("merge", lambda results: len(results.steps)).name
    'merge'
    """

    name: str
    action: Action


@dataclass
class WorkflowResult:
    """What the steps of a workflow returned, by step name, in order.

    >>> result = Workflow("counts", steps=[WorkflowStep("three", lambda results: 3)]).run()
    >>> result["three"], list(result.steps)
    (3, ['three'])
    """

    name: str
    steps: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    """Steps that an earlier run had finished."""

    def __getitem__(self, step: str) -> Any:
        if step not in self.steps:
            raise UnknownNameError("workflow step", step, self.steps)
        return self.steps[step]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def wall_s(self) -> float:
        """Duration of all steps."""
        return sum(self.seconds.values())

    @property
    def was_finished(self) -> bool:
        """Whether an earlier run had finished all steps, so that there was nothing to do."""
        return len(self.skipped) == len(self.steps)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the steps, each with the name of its step."""
        return [f"{name}: {text}" for name, each in self.steps.items() for text in getattr(each, "warnings", ())]

    def report(self) -> str:
        """Return each step's duration, with the full report of those that are pipelines or workflows."""
        parts = []
        for name, value in self.steps.items():
            parts.append(f"== {name} ({self.seconds[name]:.1f} s)")
            if hasattr(value, "report"):
                parts.append(value.report())
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what the steps returned, and how long they took, as plain values."""
        steps = {name: each.to_dict() if hasattr(each, "to_dict") else each for name, each in self.steps.items()}
        return {
            "name": self.name,
            "steps": steps,
            "seconds": self.seconds,
            "skipped": sorted(self.skipped),
            "warnings": self.warnings,
        }


class Workflow:
    """Pipelines and driver-side steps in order.

    A step is a pipeline, another workflow, or a function that gets the results so far. When that function returns a
    pipeline, it is run: so a later pipeline can depend on what an earlier one found.

    >>> from curator_core import Task, processing_stage
    >>> @processing_stage(name="square")
    ... def square(task):
    ...     return task.with_data(task.data ** 2)
    >>> def make_squares(results):
    ...     pipeline = Pipeline("squares", stages=[square])
    ...     return [task.data for task in pipeline.run(initial_tasks=[Task(data=n) for n in (1, 2, 3)])]
    >>> def total(results):
    ...     return sum(results["squares"])
    >>> steps = [WorkflowStep("squares", make_squares), WorkflowStep("sum", total)]
    >>> Workflow("sums", steps).run()["sum"]
    14

    Args:
        name: Name in reports.
        steps: The steps; subclasses may override :meth:`plan_steps` instead.
    """

    def __init__(self, name: str = "workflow", steps: Sequence[WorkflowStep] = ()) -> None:
        self.name = name
        self.steps = list(steps)

    def plan_steps(self) -> Sequence[WorkflowStep]:
        """Return the steps to run."""
        return self.steps

    def run(
        self,
        executor: Executor | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        *,
        resume: Resume = False,
        watch: Watch | None = None,
    ) -> WorkflowResult:
        """Run the steps one after the other; each gets its own folder in ``run_dir``.

        Args:
            executor: How to run the pipelines.
            run_dir: Folder for what the steps leave.
            resume: Resume the run in ``run_dir``: pipelines as :meth:`Pipeline.run` does, other steps by what they
                returned, where that is plain data and no step before them had anything left to do.
            watch: Shows progress, or asks a step to stop.
        """
        if resume and run_dir is None:
            raise ConfigError(f"workflow {self.name!r} is continued from its run directory, and none is given")
        if run_dir is not None and not resume:
            forget_steps(Path(run_dir))
        watch = watch or (lambda *_: nullcontext())
        result = WorkflowResult(self.name)
        with executor.session() if executor is not None else nullcontext():
            for number, step in enumerate(self.plan_steps()):
                if step.name in result.steps:
                    raise CuratorError(f"workflow {self.name!r} has two steps called {step.name!r}")
                started = time.monotonic()
                folder = None if run_dir is None else Path(run_dir) / f"{number:02d}-{step.name}"
                record = None if folder is None else StepRecord(folder)
                is_settled = bool(resume) and result.was_finished
                if record is not None and is_settled and record.exists:
                    value = record.read()
                    result.skipped.add(step.name)
                else:
                    try:
                        value = self._run_step(step, result, executor, folder, resume=resume, watch=watch)
                    except (ConfigError, PipelineError) as error:
                        error.message += _missing_output(result)
                        raise
                    if isinstance(step.action, Workflow) or isinstance(value, RunResult):
                        if getattr(value, "was_finished", False):
                            result.skipped.add(step.name)
                    elif record is not None:
                        record.write(value)
                result.steps[step.name] = value
                result.seconds[step.name] = time.monotonic() - started
        return result

    def _run_step(
        self,
        step: WorkflowStep,
        result: WorkflowResult,
        executor: Executor | None,
        folder: Path | None,
        *,
        resume: Resume,
        watch: Watch,
    ) -> Any:
        from curator_core.run.state import RunState

        action = step.action
        if isinstance(action, Workflow):
            return action.run(
                executor, folder, resume=resume, watch=lambda inner, state: watch(f"{step.name}: {inner}", state)
            )
        state = RunState(folder)
        with watch(step.name, state):
            if not isinstance(action, Pipeline):
                try:
                    value = action(result)
                except CuratorError:
                    raise
                except Exception as error:
                    raise StageError(
                        f"workflow {self.name!r}: step {step.name!r} failed: {type(error).__name__}: {error}"
                    ) from error
                if not isinstance(value, Pipeline):
                    return value
                action = value
            outcome = action.run(executor, resume=resume, state=state)
            if outcome.interrupted:
                raise KeyboardInterrupt
            return outcome


def _missing_output(result: WorkflowResult) -> str:
    """Say which steps wrote nothing and why: the true cause where a later one finds no input."""
    losses = {name: loss_of_all(each) for name, each in result.steps.items() if isinstance(each, RunResult)}
    return "".join(f"; step {name!r} wrote nothing: {loss}" for name, loss in losses.items() if loss is not None)
