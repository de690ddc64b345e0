"""Tasks as one object of Ray's store, of which a worker can read a part without unpickling the rest."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray.shipping import check_readable, pickler_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.authoring.tasks import Task

__all__ = ["TaskGroup", "pack_tasks", "unpack_tasks"]

# A stage that makes a million tasks of one must not cost every reader of ten of them a million unpickled tasks.
_GROUP_TASKS = 32


@dataclass(frozen=True)
class TaskGroup:
    """A few tasks, pickled together.

    Args:
        count: How many.
        data: The pickled tasks, without their large buffers.
        buffers: The large buffers, Arrow columns above all; Ray stores them as they are and maps them into readers.
    """

    count: int
    data: Any
    buffers: tuple[Any, ...]


def pack_tasks(tasks: Sequence[Task[Any]]) -> list[TaskGroup]:
    """Make tasks ready for Ray's object store."""
    groups = []
    for start in range(0, len(tasks), _GROUP_TASKS):
        members = list(tasks[start : start + _GROUP_TASKS])
        buffers: list[Any] = []
        file = io.BytesIO()
        pickler_class()(file, protocol=5, buffer_callback=buffers.append).dump(members)
        check_readable(members, file.getbuffer(), buffers)
        groups.append(TaskGroup(len(members), pickle.PickleBuffer(file.getbuffer()), tuple(buffers)))
    return groups


def unpack_tasks(groups: Sequence[TaskGroup], start: int = 0, stop: int | None = None) -> list[Task[Any]]:
    """Return the tasks from ``start`` up to ``stop``, counted over all groups."""
    tasks: list[Task[Any]] = []
    first = 0
    for group in groups:
        after = first + group.count
        if after > start and (stop is None or first < stop):
            members = pickle.loads(group.data, buffers=group.buffers)  # noqa: S301 - written by our own processes
            tasks += members[max(0, start - first) : None if stop is None else stop - first]
        first = after
    return tasks
