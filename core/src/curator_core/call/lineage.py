"""Give the outputs of a stage their ids: deterministic, unique, derived from the id of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import EmptyTask, FileGroupTask, TableBatch, Task
from curator_core.values.errors import StageError
from curator_core.values.source_ids import SourceIds

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NumberedTasks", "adopt", "adopt_one", "check_output", "number_sources"]


class NumberedTasks(list["Task[Any]"]):
    """Initial tasks that have their ids already, as in a retry."""


def number_sources(tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
    """Give initial tasks their ids: a hash of path, range and version for files, the position for anything else."""
    if isinstance(tasks, NumberedTasks):
        yield from tasks
        return
    unique = _UniqueIds()
    for position, task in enumerate(tasks):
        _check_task(task, where="initial_tasks")
        if isinstance(task, FileGroupTask):
            task_id = unique.id_for(task.fingerprint())
        elif isinstance(task, EmptyTask) and position == 0:
            task_id = ""
        else:
            task_id = str(position)
        yield _child(task, task_id)


def adopt(parent: Task[Any], result: Any, *, stage: str) -> Iterator[Task[Any]]:
    """Yield the tasks that a stage returned, as children of ``parent``.

    A single task keeps its parent's id; the members of a list or iterator get ``parent/0``, ``parent/1``, …. What comes
    from an empty task is a source of its own: files get an id made of what they are, so that it survives other files
    joining or leaving the list, anything else is numbered.
    """
    if result is None:
        return
    if isinstance(result, Task):
        check_output(result, stage=stage)
        yield adopt_one(parent, result)
        return
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, dict)):
        raise StageError(
            f"stage {stage!r} returned a {type(result).__name__}",
            fix="return a task, None, or a list or iterator of tasks",
        )
    unique = _UniqueIds()
    for index, child in enumerate(result):
        _check_task(child, where=f"what stage {stage!r} returned")
        check_output(child, stage=stage)
        task_id = _source_task_id(parent, child, index)
        task_id = f"{parent.task_id}/{index}" if task_id is None else unique.id_for(task_id)
        yield _child(child, task_id, parent)
        del child  # while the next one is made


class _UniqueIds:
    """Tells sources apart that have the same files: the second gets ``x2`` behind its id."""

    def __init__(self) -> None:
        self._seen = SourceIds()
        self._repeated: Counter[str] = Counter()

    def id_for(self, task_id: str) -> str:
        if self._seen.add(task_id):
            return task_id
        self._repeated[task_id] += 1
        return f"{task_id}x{self._repeated[task_id] + 1}"


def adopt_one(parent: Task[Any], child: Task[Any]) -> Task[Any]:
    """Return the one task that a stage made of ``parent``, with its id."""
    if child.task_id == parent.task_id and child.dataset_name == parent.dataset_name:  # as `with_data` makes it
        if not isinstance(parent, EmptyTask):
            return child
        if child is parent:
            return parent
    return _child(child, _source_task_id(parent, child, 0) or parent.task_id, parent)


def check_output(task: Task[Any], *, stage: str) -> None:
    """Refuse a task that cannot be counted, because its payload is not of the type that its class holds.

    Called where a failure is still that of the stage and of the task it was given.

    Raises:
        StageError: Rows or size of the task cannot be determined.
    """
    try:
        task.num_items  # noqa: B018 - read for its errors
        if not isinstance(task, TableBatch):  # a table that has rows has a size, which takes long to add up
            task.size_bytes  # noqa: B018
    except Exception as error:
        raise StageError(
            f"stage {stage!r} returned a {type(task).__name__} that holds a {type(task.data).__name__}, "
            f"which cannot be counted: {type(error).__name__}: {error}",
            fix="give payloads to with_data or to the constructor, which convert and check them",
        ) from error


def _source_task_id(parent: Task[Any], child: Task[Any], index: int) -> str | None:
    """Return the id of a child that is a source of its own, else None."""
    if not isinstance(parent, EmptyTask) or isinstance(child, EmptyTask):
        return None
    if isinstance(child, FileGroupTask):
        return child.fingerprint()
    return f"{parent.task_id}-{index}" if parent.task_id else str(index)


def _child(task: Task[Any], task_id: str, parent: Task[Any] | None = None) -> Task[Any]:
    """Return a copy with its id: a stage may return one object twice, or keep it."""
    twin = task.with_data(task.data)
    twin.task_id = task_id
    if parent is not None and not twin.dataset_name:
        twin.dataset_name = parent.dataset_name
    return twin


def _check_task(task: object, *, where: str) -> None:
    if not isinstance(task, Task):
        raise StageError(
            f"{where} contains a {type(task).__name__}, not a task", fix="wrap the value: Task(data=value)"
        )
