"""Join neighbouring stages into steps: what one worker does in one call, without serialisation in between."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import EmptyTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.plan.plan import PlannedStage
    from curator_core.values.resources import Resources

__all__ = ["Step", "fuse", "makes_iterators"]


@dataclass(frozen=True)
class Step:
    """Stages that run in one call, in order; at least one."""

    stages: tuple[PlannedStage, ...]

    @property
    def name(self) -> str:
        """The names of its stages, joined by ``+``."""
        return "+".join(planned.stage.name for planned in self.stages)

    @property
    def resources(self) -> Resources:
        """What one worker needs; the stages of a step all need the same."""
        return self.stages[0].stage.resources

    @property
    def runtime_env(self) -> dict[str, Any] | None:
        """Environment of its workers; the stages of a step all have the same."""
        return self.stages[0].stage.runtime_env

    @property
    def is_source(self) -> bool:
        """Whether it makes its own work from an empty task."""
        return self.stages[0].input_type is EmptyTask

    @property
    def batch_size(self) -> int:
        """How many tasks its first stage wants at once."""
        return self.stages[0].stage.batch_size

    @property
    def timeout_s(self) -> float | None:
        """Most seconds for one task in all its stages, if they have a limit."""
        limits = [planned.stage.timeout_s for planned in self.stages]
        return None if None in limits else sum(each for each in limits if each is not None)


def fuse(stages: Sequence[PlannedStage]) -> tuple[Step, ...]:
    """Group the stages of a plan into steps.

    Neighbours stay apart when either says ``fuse=False`` or sets a number of workers, when they need different
    resources, environments or replacements of workers, or hold any for their life (a GPU, memory), when only one has a
    time limit, when the second wants batches, which must fill up over many calls, when the first wants batches and the
    second makes an open number of tasks of one, which would pile up for a whole batch, and when the first makes the
    work that must spread over all workers: it is a source, or says so (``spreads``).
    """
    groups: list[list[PlannedStage]] = []
    for planned in stages:
        if groups and _can_join(groups[-1][-1], planned):
            groups[-1].append(planned)
        else:
            groups.append([planned])
    return tuple(Step(tuple(group)) for group in groups)


def _can_join(first: PlannedStage, second: PlannedStage) -> bool:
    one, other = first.stage, second.stage
    return (
        _may_be_fused(first)
        and _may_be_fused(second)
        and one.resources == other.resources
        and one.runtime_env == other.runtime_env
        and one.max_calls_per_worker == other.max_calls_per_worker
        and (one.timeout_s is None) == (other.timeout_s is None)
        and first.input_type is not EmptyTask
        and not one.spreads
        and other.batch_size in (1, one.batch_size)
        and not (one.batch_size > 1 and makes_iterators(other))
    )


def makes_iterators(stage: ProcessingStage[Any, Any]) -> bool:
    """Return whether a stage makes an open number of tasks of one, as an iterator."""
    return inspect.isgeneratorfunction(getattr(stage, "function", stage.process))


def _may_be_fused(planned: PlannedStage) -> bool:
    stage, resources = planned.stage, planned.stage.resources
    sizes = (stage.num_workers(), stage.workers_per_node, stage.min_workers, stage.max_workers)
    sizes_itself = any(each is not None for each in sizes)
    holds_something = resources.uses_gpu or resources.memory_gb or resources.custom
    return stage.fuse and not sizes_itself and not holds_something
