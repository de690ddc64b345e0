"""A pipeline: a straight line of stages with a name."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import ProcessingStage
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError, PipelineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curator_core.authoring.existing_output import Existing
    from curator_core.authoring.tasks import Task
    from curator_core.executors.base import Executor
    from curator_core.parameters.references import References
    from curator_core.plan.plan import Plan
    from curator_core.registry import Registry
    from curator_core.run.ledger.resume import Resume
    from curator_core.run.result import RunResult
    from curator_core.run.state import RunState

__all__ = ["Pipeline"]

_log = logging.getLogger(__name__)


class Pipeline:
    """A straight line of stages.

    >>> from curator_core import Task, processing_stage
    >>> @processing_stage(name="increment")
    ... def increment(task):
    ...     return task.with_data(task.data + 1)
    >>> pipeline = Pipeline(name="count").add_stage(increment)
    >>> result = pipeline.run(initial_tasks=[Task(data=1)])
    >>> len(result), result[0].data
    (1, 2)

    Args:
        name: Name in reports.
        description: What it is for.
        stages: The stages, in order; more can be added with :meth:`add_stage`.
        registry: The plugins that are told of its runs and that errors advise of; those of the process unless given.
    """

    def __init__(
        self,
        name: str = "pipeline",
        description: str = "",
        stages: Sequence[ProcessingStage[Any, Any]] = (),
        *,
        registry: Registry | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self._registry = registry
        self.stages: list[ProcessingStage[Any, Any]] = []
        self.references: References = {}  # values that came from variables, as the pipeline file has them
        for stage in stages:
            self.add_stage(stage)

    def add_stage(self, stage: ProcessingStage[Any, Any]) -> Pipeline:
        """Append a stage and return the pipeline, so that calls can be chained."""
        _check_is_stage(stage, self.name)
        self.stages.append(stage)
        return self

    @property
    def registry(self) -> Registry:
        """The plugins that it knows."""
        return self._registry or default_registry()

    def build(self, *, check_inputs: bool = True) -> Plan:
        """Check everything that can be checked before anything runs, and return the plan.

        Args:
            check_inputs: Also look whether input files exist and which columns they have.
        """
        from curator_core.plan.planner import build_plan

        plan = build_plan(self, check_inputs=check_inputs)
        self.registry.notify("curator_pipeline_built", pipeline=self, plan=plan)
        return plan

    def describe(self) -> str:
        """Return the stages, their resources and columns as text, without touching any input."""
        return self.build(check_inputs=False).describe()

    def run(
        self,
        executor: Executor | None = None,
        initial_tasks: Iterable[Task[Any]] | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        resume: Resume = False,  # noqa: FBT002 - the signature is part of the public contract
        *,
        existing: Existing = "warn",
        state: RunState | None = None,
    ) -> RunResult:
        """Check and run the pipeline.

        Args:
            executor: How to run it. Unless given, on Ray where one is at hand or a stage asks for a GPU, and in this
                process otherwise.
            initial_tasks: What the first stage gets, pulled lazily; one empty task unless given.
            run_dir: Folder for the plan, the ledger, quarantined records, dropped rows and the result.
            resume: Resume the run in ``run_dir``, skipping what it has finished; starts it where there is none.
                True refuses if pipeline or input have changed since, ``"changed"`` redoes what is affected.
            existing: What happens to files in the output folder that look like the writer's and that neither this run
                nor the one it resumes has written. ``"warn"`` leaves them there and says so in ``warnings`` of the
                result, ``"keep"`` says nothing, ``"error"`` refuses to start. ``"replace"`` removes those that a run
                has named (``part-…``) when this run has ended well.
            state: What the run has done so far, for those who watch it or stop it. It has the run directory and
                ``existing``, so give these to ``RunState``, not here.

        Raises:
            ConfigError: ``state`` is given together with ``run_dir`` or ``existing``, or files of other runs are in the
                output folder and ``existing`` is ``"error"``.
            PipelineError: The pipeline cannot run as it is, or has no reader and no initial tasks.
            ResumeError: Something has changed that finished work depends on.
        """
        from curator_core.run.run import run_plan
        from curator_core.run.state import RunState

        if state is not None and run_dir is not None:
            raise ConfigError(
                f"run_dir is {os.fspath(run_dir)!r}, but the state that is given has its own run directory, or none",
                fix="give the folder to the state: RunState(run_dir)",
            )
        if state is not None and existing != "warn":
            raise ConfigError(
                f"existing is {existing!r}, but the state that is given has its own",
                fix="give it to the state: RunState(run_dir, existing=…)",
            )
        plan = self.build()
        return run_plan(
            plan,
            _or_default(executor, plan),
            initial_tasks=initial_tasks,
            state=RunState(run_dir, existing=existing) if state is None else state,
            resume=resume,
        )

    def stream(
        self, executor: Executor | None = None, initial_tasks: Iterable[Task[Any]] | None = None
    ) -> Iterator[Task[Any]]:
        """Check the pipeline, then yield its outputs as they finish."""
        from curator_core.run.run import stream_plan
        from curator_core.run.state import RunState

        plan = self.build()
        return stream_plan(plan, _or_default(executor, plan), state=RunState(), initial_tasks=initial_tasks)

    def to_yaml(self, *, registry: Registry | None = None) -> str:
        """Return the pipeline as a YAML document that :meth:`from_yaml` reads back.

        What came from variables of a pipeline file is written as these, but for paths, names and numbers, so the
        variables are needed to read it back. Anything else is written as it is, secrets included.

        Args:
            registry: Where the names of its stages are looked up; its own unless given.
        """
        from curator_core.plan.dump import dump_pipeline

        return dump_pipeline(self, registry=registry or self.registry)

    @classmethod
    def from_yaml(
        cls,
        source: str | os.PathLike[str],
        variables: Mapping[str, str] | None = None,
        *,
        registry: Registry | None = None,
    ) -> Pipeline:
        """Read a pipeline from a YAML file, or from YAML text.

        Args:
            source: Path of the file, or the text itself (anything with a line break).
            variables: Values for ``${NAME}``, before those of the environment.
            registry: Where names are looked up; that of the process unless given.

        Raises:
            ConfigError: Lists everything that is wrong with the file, each with its line.
            PipelineError: The file has a workflow or steps instead of stages.
        """
        from curator_core.config.loader import JobDescription, read_pipeline_file

        file = read_pipeline_file(source, variables, registry=registry or default_registry())
        if not isinstance(file.job, JobDescription) or file.job.workflow is not None:
            raise PipelineError(f"{file.path or '<text>'} is a workflow", fix="curator run takes it")
        pipeline = cls(file.name, file.description, file.job.stages, registry=registry)
        pipeline.references = file.references
        return pipeline

    def __repr__(self) -> str:
        return f"Pipeline({self.name!r}, stages={[stage.name for stage in self.stages]})"


def _check_is_stage(stage: object, pipeline_name: str) -> None:
    if isinstance(stage, ProcessingStage):
        return
    if isinstance(stage, type):
        what, fix = stage.__name__, "add an instance: call the class"
    else:
        what, fix = repr(stage), "add a ProcessingStage or a function decorated with @processing_stage"
    raise PipelineError(f"pipeline {pipeline_name!r}: {what} is not a stage", fix=fix)


def _or_default(executor: Executor | None, plan: Plan) -> Executor:
    if executor is not None:
        return executor
    from curator_core.config.executors import make_executor
    from curator_core.executors.default import default_here

    choice = default_here(plan)
    _log.info("%s runs with the %s executor: %s", plan.pipeline_name, choice.name, choice.reason)
    return make_executor(choice.name, {}, registry=plan.registry)
