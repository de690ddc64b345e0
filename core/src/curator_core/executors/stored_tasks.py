"""Tasks that lie in Ray's object store, the calls that take them, and what becomes of calls whose worker died."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from curator_core.executors.ray import import_ray
from curator_core.executors.task_packs import pack_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.authoring.tasks import Task

__all__ = ["Call", "Feed", "Slice", "SourceFeed", "StoredFeed", "after_death", "split_slices", "task_count"]


@dataclass(frozen=True)
class Slice:
    """Some neighbouring tasks of one stored object.

    Args:
        ref: Reference to the object.
        start: First task.
        stop: First task after.
    """

    ref: Any
    start: int
    stop: int


class Feed(Protocol):
    """Where a stage's input comes from."""

    @property
    def count(self) -> int | None:
        """How many tasks there are at first, where that is known."""

    def cut(self, tasks: int) -> list[Slice]:
        """Take up to this many tasks; nothing when there are no more."""


class SourceFeed:
    """Tasks of the driver, stored when they are asked for."""

    def __init__(self, tasks: Iterable[Task[Any]], *, count: int | None = None) -> None:
        self._tasks = iter(tasks)
        self.count = count

    def cut(self, tasks: int) -> list[Slice]:
        """Pull tasks and store them."""
        pulled = list(islice(self._tasks, tasks))
        return [Slice(import_ray().put(pack_tasks(pulled)), 0, len(pulled))] if pulled else []


class StoredFeed:
    """What the stage before has left; an object is let go with the last call that reads it."""

    def __init__(self, slices: Iterable[Slice]) -> None:
        self._slices = deque(each for each in slices if each.stop > each.start)
        self.count: int | None = task_count(self._slices)

    def cut(self, tasks: int) -> list[Slice]:
        """Take tasks in order, from several objects where one does not hold enough."""
        taken = []
        while tasks > 0 and self._slices:
            first, rest = split_slices([self._slices.popleft()], tasks)
            taken += first
            self._slices.extendleft(rest)
            tasks -= task_count(first)
        return taken


def task_count(slices: Iterable[Slice]) -> int:
    """Return the number of tasks in slices."""
    return sum(each.stop - each.start for each in slices)


def split_slices(slices: Iterable[Slice], tasks: int) -> tuple[list[Slice], list[Slice]]:
    """Return the first ``tasks`` tasks, and the others.

    >>> split_slices([Slice("a", 0, 3), Slice("b", 5, 6)], 2)
    ([Slice(ref='a', start=0, stop=2)], [Slice(ref='a', start=2, stop=3), Slice(ref='b', start=5, stop=6)])
    """
    first, rest = [], []
    for each in slices:
        middle = min(each.stop, each.start + tasks)
        tasks -= middle - each.start
        if middle > each.start:
            first.append(Slice(each.ref, each.start, middle))
        if each.stop > middle:
            rest.append(Slice(each.ref, middle, each.stop))
    return first, rest


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
