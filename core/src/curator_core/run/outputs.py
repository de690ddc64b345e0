"""The outputs of a run: files and small values packed in blocks, and made into tasks when they are asked for."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from curator_core.authoring.tasks import FileGroupTask, FileSlice, Task

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator

__all__ = ["Outputs"]

_BLOCK = 1_024
_REORDERED_AT_ONCE = 64 * _BLOCK
_SCALARS = frozenset((int, float, str, bool, type(None)))
_PLAIN_FIELDS = 4
_DEPTH = 3


class Outputs(Sequence["Task[Any]"]):
    """Output tasks, of which a thousand at a time are packed where all of them are files or single values.

    A task that was packed is made anew each time it is asked for: changing it does not change what is held here. Tasks
    with tables, lists, dicts or objects of other classes are held as they are.

    Attributes:
        rows: Rows in all tasks.
    """

    def __init__(self, tasks: Iterable[Task[Any]] = ()) -> None:
        self.rows = 0
        self._blocks: list[bytes | list[Task[Any]]] = []
        self._newest: list[Task[Any]] = []
        self._unpacked: tuple[int, list[Task[Any]]] = (-1, [])
        self.extend(tasks)

    def append(self, task: Task[Any]) -> None:
        """Add a task at the end."""
        self.rows += task.num_items
        self._newest.append(task)
        if len(self._newest) == _BLOCK:
            self._blocks.append(_pack(self._newest))
            self._newest = []

    def extend(self, tasks: Iterable[Task[Any]]) -> None:
        """Add tasks at the end, one by one."""
        for task in tasks:
            self.append(task)
            del task  # while the next one is made

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._newest)

    @overload
    def __getitem__(self, index: int) -> Task[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Task[Any]]: ...
    def __getitem__(self, index: int | slice) -> Task[Any] | list[Task[Any]]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"output {index} of {len(self)}")
        return self._block(number // _BLOCK)[number % _BLOCK]

    def __iter__(self) -> Iterator[Task[Any]]:
        for number in range(len(self._blocks)):
            yield from _unpack(self._blocks[number])
        yield from self._newest

    def ids(self) -> Iterator[str]:
        """Yield the ids of the tasks."""
        return (task.task_id for task in self)

    def paths(self) -> Iterator[str]:
        """Yield the files that the tasks name."""
        for task in self:
            if isinstance(task, FileGroupTask):
                yield from task.paths

    def reordered(self, order: array[int] | None) -> Outputs:
        """Return the tasks in another order.

        Args:
            order: Which task comes first, which second and so on; None leaves them as they are.
        """
        if order is None:
            return self
        found = Outputs()
        for begin in range(0, len(order), _REORDERED_AT_ONCE):
            wanted = order[begin : begin + _REORDERED_AT_ONCE]
            tasks: list[Any] = [None] * len(wanted)
            for place in sorted(range(len(wanted)), key=wanted.__getitem__):  # so that each block is unpacked once
                tasks[place] = self[wanted[place]]
            found.extend(tasks)
        return found

    def _block(self, number: int) -> list[Task[Any]]:
        if number == len(self._blocks):
            return self._newest
        if self._unpacked[0] != number:
            self._unpacked = number, _unpack(self._blocks[number])
        return self._unpacked[1]


def _pack(tasks: list[Task[Any]]) -> bytes | list[Task[Any]]:
    if not all(map(_can_pack, tasks)):
        return tasks
    columns = (
        [task.task_id for task in tasks],
        [task.dataset_name for task in tasks],
        [task.meta for task in tasks],
        [tuple(map(_slice_values, task.data)) if type(task) is FileGroupTask else task.data for task in tasks],
        [type(task) is FileGroupTask for task in tasks],
    )
    return zlib.compress(pickle.dumps(columns, protocol=5), level=1)


def _unpack(block: bytes | list[Task[Any]]) -> list[Task[Any]]:
    if isinstance(block, list):
        return block
    columns = pickle.loads(zlib.decompress(block))  # noqa: S301 - made by this module, in this process
    return [_task(*values) for values in zip(*columns, strict=True)]


def _task(task_id: str, dataset_name: str, meta: dict[str, Any], data: Any, is_files: bool) -> Task[Any]:  # noqa: FBT001
    if is_files:
        files = tuple(FileSlice(*values) for values in data)
        return FileGroupTask(data=files, task_id=task_id, dataset_name=dataset_name, meta=meta)
    return Task(data=data, task_id=task_id, dataset_name=dataset_name, meta=meta)


def _slice_values(piece: FileSlice) -> tuple[Any, ...]:
    return piece.path, piece.start, piece.end, piece.row_groups, piece.file_bytes, piece.version, piece.key


def _can_pack(task: Task[Any]) -> bool:
    """Return whether unpacking gives back the same task."""
    kind = type(task)
    if len(vars(task)) != _PLAIN_FIELDS:
        return False
    if kind is FileGroupTask:
        is_plain = all(type(piece) is FileSlice for piece in task.data)
    else:
        is_plain = kind is Task and type(task.data) in _SCALARS
    return is_plain and _is_plain(task.meta, _DEPTH)


def _is_plain(value: Any, depth: int) -> bool:
    if type(value) in _SCALARS:
        return True
    if depth == 0 or type(value) not in (dict, list, tuple):
        return False
    if type(value) is dict and not all(type(key) in _SCALARS for key in value):
        return False
    parts = value.values() if type(value) is dict else value
    return all(_is_plain(each, depth - 1) for each in parts)
