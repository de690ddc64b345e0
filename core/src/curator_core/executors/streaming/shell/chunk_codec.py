"""A chunk of tasks as one object: cheap to pickle, without copying tables, and of known size."""

from __future__ import annotations

import gc
import itertools
import pickle
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import TableBatch
from curator_core.executors.ray import import_ray
from curator_core.executors.ray.shipping import dumps_readable
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.tasks import Task

__all__ = ["Payload", "approximate_bytes", "collection_paused", "decode", "encode", "fetch", "keep"]

_LARGE_BYTES = 64 << 10
_BLOAT = 1.25
_TINY = frozenset((int, float, bool, type(None)))
_FIELDS = ("data", "task_id", "dataset_name", "meta")


@dataclass(slots=True)
class Payload:
    """Pickled tasks: a stream, and the large buffers that it refers to."""

    stream: Any
    buffers: list[Any]


def encode(tasks: Sequence[Task[Any]], *, by_value: bool = False) -> tuple[Payload, int]:
    """Return tasks in the form that travels, and its size.

    Tasks of one plain type travel as columns, which costs a fraction of pickling them one by one.

    Args:
        tasks: The tasks.
        by_value: Whether classes may have to travel too, because the other side cannot import them.

    Raises:
        StageError: One of them cannot be pickled, or not be unpickled.
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        stream = _dumps(_columns(tasks) or list(tasks), buffers, by_value=by_value)
    except Exception as error:
        raise StageError(
            f"a task (one of {tasks[0].task_id} to {tasks[-1].task_id}) cannot be sent to a worker: {error}",
            fix="keep only values in tasks that pickle can handle: no open files, locks, generators or connections",
        ) from error
    size_bytes = len(stream) + sum(each.raw().nbytes for each in buffers)
    return Payload(pickle.PickleBuffer(stream), list(buffers)), size_bytes


def decode(payload: Payload, start: int = 0, stop: int | None = None) -> list[Task[Any]]:
    """Return the tasks in a payload, or some of them."""
    with collection_paused():
        packed = pickle.loads(payload.stream, buffers=payload.buffers)  # noqa: S301 - made by this module, in this run
        return packed[start:stop] if isinstance(packed, list) else _tasks_of(packed, slice(start, stop))


def keep(payload: Payload, size_bytes: int, *, inline_bytes: int) -> Any:
    """Return a handle that calls can be given: the payload itself where it is small, a reference otherwise.

    What a driver puts goes to the object store however small it is, and costs a call twice the time to get from there.
    """
    return payload if size_bytes <= inline_bytes else import_ray().put(payload)


def fetch(handle: Any) -> Payload:
    """Return the payload behind a handle."""
    payload: Payload = handle if isinstance(handle, Payload) else import_ray().get(handle)
    return payload


@contextmanager
def collection_paused() -> Iterator[None]:
    """Make thousands of objects, none of them garbage, without the collector looking at them again and again.

    Threads may do this at the same time: whoever found the collector on turns it on again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _tasks_of(packed: tuple[Any, ...], span: slice) -> list[Task[Any]]:
    kind, ids, data, names, metas, is_wrapped = packed
    data = [_unwrap(each) for each in data[span]] if is_wrapped else data[span]
    ids = ids[span]
    names = itertools.repeat(names) if isinstance(names, str) else names[span]
    metas = ({} for _ in ids) if metas is None else metas[span]
    tasks = []
    for value, task_id, name, meta in zip(data, ids, names, metas, strict=False):
        task = object.__new__(kind)
        task.__dict__ = {"data": value, "task_id": task_id, "dataset_name": name, "meta": meta}
        tasks.append(task)
    return tasks


def approximate_bytes(task: Task[Any]) -> int:
    """Return the size of a task's payload as far as it is cheap to know."""
    data = task.data
    kind = type(data)
    if kind in _TINY:
        return 0
    return task.size_bytes or _value_bytes(data, depth=2)


def _value_bytes(value: Any, depth: int) -> int:
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return len(value)
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    if depth and isinstance(value, (dict, list, tuple)):
        size = 0
        for each in value.values() if isinstance(value, dict) else value:
            if type(each) not in _TINY:
                size += _value_bytes(each, depth - 1)
        return size
    return 0


def _columns(tasks: Sequence[Task[Any]]) -> tuple[Any, ...] | None:
    """Return the fields of tasks of one type that has no fields of its own, else None."""
    kind = type(tasks[0])
    if any(type(task) is not kind or len(task.__dict__) != len(_FIELDS) for task in tasks):
        return None
    if tuple(sorted(tasks[0].__dict__)) != tuple(sorted(_FIELDS)):
        return None
    names: Any = [task.dataset_name for task in tasks]
    if all(name == names[0] for name in names):
        names = names[0]
    metas = [task.meta for task in tasks] if any(task.meta for task in tasks) else None
    may_be_large = issubclass(kind, TableBatch) or any(type(task.data) is bytes for task in tasks)
    data = [_wrap(task) for task in tasks] if may_be_large else [task.data for task in tasks]
    is_wrapped = any(type(each) in (_LongBytes, _CompactTable) for each in data)
    return kind, [task.task_id for task in tasks], data, names, metas, is_wrapped


@dataclass(slots=True)
class _LongBytes:
    """Bytes that travel beside the stream instead of in it."""

    buffer: Any


@dataclass(slots=True)
class _CompactTable:
    """A table that is a small part of its buffers: written out, so that only the part travels."""

    buffer: Any


def _wrap(task: Task[Any]) -> Any:
    data = task.data
    if type(data) is bytes and len(data) >= _LARGE_BYTES:
        return _LongBytes(pickle.PickleBuffer(data))
    if isinstance(task, TableBatch) and data.get_total_buffer_size() > _BLOAT * data.nbytes + _LARGE_BYTES:
        return _CompactTable(_as_ipc(data))
    return data


def _unwrap(data: Any) -> Any:
    if type(data) is _LongBytes:
        return bytes(data.buffer)
    if type(data) is _CompactTable:
        import pyarrow as pa

        return pa.ipc.open_stream(data.buffer).read_all()
    return data


def _as_ipc(table: Any) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _dumps(value: Any, buffers: list[pickle.PickleBuffer], *, by_value: bool) -> bytes:
    if not by_value:
        try:
            return dumps_readable(value, buffers, by_value=False)
        except (pickle.PicklingError, AttributeError, TypeError, ImportError):
            buffers.clear()  # a class that only cloudpickle can handle
    return dumps_readable(value, buffers)
