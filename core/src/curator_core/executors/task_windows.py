"""Cut an open stream of tasks into windows, small at first: how a lazy source feeds an engine that wants lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curator_core.authoring.tasks import Task

__all__ = ["evenly", "windows"]

_FIRST_TASKS = 1_024
_GROWTH = 16
_MOST_TASKS = 65_536
_MOST_BYTES = 256 << 20


def windows(tasks: Iterable[Task[Any]]) -> Iterator[list[Task[Any]]]:
    """Yield lists of tasks, each larger than the one before, up to a bound in tasks and bytes."""
    most = _FIRST_TASKS
    window: list[Task[Any]] = []
    size_bytes = 0
    for task in tasks:
        window.append(task)
        size_bytes += task.size_bytes
        if len(window) >= most or size_bytes >= _MOST_BYTES:
            yield window
            window, size_bytes = [], 0
            most = min(most * _GROWTH, _MOST_TASKS)
    if window:
        yield window


def evenly(tasks: Sequence[Task[Any]], *, parts: int, most: int) -> Iterator[Sequence[Task[Any]]]:
    """Yield up to ``parts`` parts of nearly equal length; more where one would have over ``most`` tasks.

    >>> [list(part) for part in evenly([1, 2, 3, 4, 5], parts=3, most=100)]
    [[1, 2], [3, 4], [5]]
    """
    size = max(1, min(most, math.ceil(len(tasks) / parts)))
    for start in range(0, len(tasks), size):
        yield tasks[start : start + size]
