"""Which executor runs a pipeline when nobody has named one, and why."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.plan.plan import Plan

__all__ = ["NAMED_BY_FILE", "VARIABLE", "ExecutorChoice", "default_executor", "default_here"]

NAMED_BY_FILE = "named in the pipeline file"
VARIABLE = "CURATOR_EXECUTOR"
"""Environment variable that names the executor for pipelines that name none."""


@dataclass(frozen=True, slots=True)
class ExecutorChoice:
    """An executor that was chosen, by its registry name, and the reason."""

    name: str
    reason: str


def default_executor(plan: Plan, ray_is_initialised: bool, environment: Mapping[str, str]) -> ExecutorChoice:  # noqa: FBT001 - a fact like the others
    """Choose: what the environment names, else streaming where a Ray is at hand or GPUs are asked for, else local.

    Starting a Ray takes seconds and a few hundred megabytes, which small work never earns back; where there is one
    already, or work that only Ray can place, nothing speaks for this process.

    >>> from curator_core import Pipeline, Resources, processing_stage
    >>> @processing_stage(name="same")
    ... def same(task):
    ...     return task
    >>> default_executor(Pipeline("p", stages=[same]).build(), False, {}).name
    'local'
    >>> model = same.with_(resources=Resources(gpus=0.5))
    >>> default_executor(Pipeline("p", stages=[model]).build(), False, {})
    ExecutorChoice(name='streaming', reason="stage 'same' asks for a GPU")
    >>> either = same.with_(resources=Resources(gpus=0.5, gpu_optional=True))
    >>> default_executor(Pipeline("p", stages=[either]).build(), False, {}).name
    'local'

    Args:
        plan: What is to be run.
        ray_is_initialised: Whether this process is connected to a Ray.
        environment: The environment variables.
    """
    if environment.get(VARIABLE):
        return ExecutorChoice(environment[VARIABLE], f"{VARIABLE} is set")
    if ray_is_initialised:
        return ExecutorChoice("streaming", "Ray is initialised in this process")
    if environment.get("RAY_ADDRESS"):
        return ExecutorChoice("streaming", "RAY_ADDRESS is set")
    for planned in plan.stages:
        resources = planned.stage.resources
        if resources.uses_gpu and not resources.gpu_optional:
            return ExecutorChoice("streaming", f"stage {planned.stage.name!r} asks for a GPU")
    return ExecutorChoice("local", "no Ray at hand and no stage asks for a GPU")


def default_here(plan: Plan) -> ExecutorChoice:
    """Choose for this process, as it is now. Does not import Ray: what is not imported is not initialised."""
    ray = sys.modules.get("ray")
    is_initialised = getattr(ray, "is_initialized", None)
    return default_executor(plan, is_initialised is not None and bool(is_initialised()), os.environ)
