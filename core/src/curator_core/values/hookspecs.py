"""The hooks a plugin may implement. All run in the driver process; none runs per record.

A plugin module imports only the standard library, :mod:`curator_core.specs` and :mod:`curator_core.hookspecs`::

    from curator_core.hookspecs import hookimpl
    from curator_core.specs import StageSpec

    CURATOR_API = (1, 0)

    @hookimpl
    def curator_stages():
        return [StageSpec("shout", target="my_package.shout:Shout", summary="Upper-case the text.")]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.plan.plan import Plan
    from curator_core.run.result import RunResult
    from curator_core.values.specs import CommandSpec, ExecutorSpec, StageSpec, TaskTypeSpec, WorkflowSpec

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT = "curator"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def curator_stages() -> Sequence[StageSpec]:  # type: ignore[empty-body]
    """Return the stages of this plugin. Called once, when the registry is first asked. Since API 1.0."""


@hookspec
def curator_task_types() -> Sequence[TaskTypeSpec]:  # type: ignore[empty-body]
    """Return the task types of this plugin. Called once, when the registry is first asked. Since API 1.0."""


@hookspec
def curator_executors() -> Sequence[ExecutorSpec]:  # type: ignore[empty-body]
    """Return the executors of this plugin. Called once, when the registry is first asked. Since API 1.0."""


@hookspec
def curator_workflows() -> Sequence[WorkflowSpec]:  # type: ignore[empty-body]
    """Return the workflows of this plugin. Called once, when the registry is first asked. Since API 1.0."""


@hookspec
def curator_commands() -> Sequence[CommandSpec]:  # type: ignore[empty-body]
    """Return sub-commands for ``curator``. Called when the command line lists or resolves them. Since API 1.0."""


@hookspec
def curator_pipeline_built(pipeline: Pipeline, plan: Plan) -> None:
    """Observe a pipeline that passed all its checks, before it runs. Since API 1.0."""


@hookspec
def curator_run_started(plan: Plan, run_dir: str | None) -> None:
    """Observe the start of a run. Since API 1.0."""


@hookspec
def curator_run_finished(plan: Plan, result: RunResult) -> None:
    """Observe the end of a run, successful or not. Since API 1.0."""


@hookspec
def curator_task_failed(record: QuarantineRecord) -> None:
    """Observe a task or record that went to quarantine. Since API 1.0."""
