"""Calls of a stage, and what becomes of one whose worker died: pure decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from curator_core.executors.stored_tasks import split_slices, task_count

if TYPE_CHECKING:
    from curator_core.executors.stored_tasks import Slice

__all__ = ["Call", "after_death"]


@dataclass(frozen=True)
class Call:
    """Tasks on their way through a worker.

    Args:
        key: Place in the order of the input; parts of a call sort where the call did.
        slices: The tasks.
        deaths: Workers that died running exactly these tasks.
        is_part: Whether it is a part of a call that kept killing workers.
    """

    key: tuple[int, ...]
    slices: tuple[Slice, ...]
    deaths: int = 0
    is_part: bool = False

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return task_count(self.slices)


def after_death(call: Call, *, max_deaths: int) -> list[Call]:
    """Return the calls to make instead of one whose worker died; none when its only task is guilty.

    A whole call gets all its tries, because workers also die of what others do. After that something in it kills
    workers: it is halved at every further death, until a task is alone, and that again gets all tries.
    """
    call = replace(call, deaths=call.deaths + 1)
    if call.tasks == 1:
        return [call] if call.deaths < max_deaths else []
    if not call.is_part and call.deaths < max_deaths:
        return [call]
    halves = split_slices(call.slices, call.tasks // 2)
    return [Call((*call.key, number), tuple(half), is_part=True) for number, half in enumerate(halves)]
