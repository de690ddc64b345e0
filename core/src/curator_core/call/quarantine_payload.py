"""Rows and tasks in quarantine as bytes: Arrow files, which keep every type and run no code when they are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, TableBatch, Task
from curator_core.values.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from curator_core.authoring.recording import BadRecord

__all__ = ["MAX_PAYLOAD_BYTES", "decode_payload", "encode_payload", "refused_rows"]

MAX_PAYLOAD_BYTES = 16 * 2**20
"""Largest task that is kept; a larger one can still be retried from its source."""
_KEY = b"curator.task"
_COLUMN = "data"
_FIELDS = {"data", "task_id", "dataset_name", "meta"}


def encode_payload(task: Task[Any], *, task_id: str) -> bytes | None:
    """Return a task as an Arrow file, or None if it is too large or holds values that a file cannot.

    Tables, bytes and values that JSON has can be kept. Tasks with fields of their own cannot: making them again would
    take their class, and a file must not say which class that is.

    Args:
        task: The task.
        task_id: Id it will have in a retry.
    """
    if set(vars(task)) != _FIELDS or task.size_bytes > MAX_PAYLOAD_BYTES:
        return None
    held = _as_table(task)
    header = {"task_id": task_id, "dataset_name": task.dataset_name, "meta": task.meta}
    if held is None or not _is_json(header):
        return None
    kind, table = held
    import pyarrow as pa

    text = json.dumps({"kind": kind, **header})
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: text.encode()})
    sink = pa.BufferOutputStream()
    try:
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
    except pa.ArrowException:  # a type that has no form in a file
        return None
    data: bytes = sink.getvalue().to_pybytes()
    return data if len(data) <= MAX_PAYLOAD_BYTES else None


def decode_payload(data: bytes, *, task_type: type[Task[Any]], where: str) -> Task[Any]:
    """Return the task in a file.

    Args:
        data: Content of a file, from :func:`encode_payload`.
        task_type: Class of the task.
        where: Name of the file, for errors.

    Raises:
        DataError: The file is damaged, or holds another kind of task.
    """
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        table.validate(full=True)
        metadata = dict(table.schema.metadata or {})
        header = json.loads(metadata.pop(_KEY))
        value = _value(header["kind"], table.replace_schema_metadata(metadata or None))
        holds_table, is_table_type = header["kind"] == "table", issubclass(task_type, TableBatch)
        if holds_table != is_table_type:
            task_type = TableBatch if holds_table else Task
        return task_type(
            data=value, task_id=header["task_id"], dataset_name=header["dataset_name"], meta=header["meta"]
        )
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"the kept task cannot be read: {error}", source=where) from error


def refused_rows(tasks: Sequence[Task[Any]], bad: BadRecord) -> TableBatch | None:
    """Return the row that a stage refused, cut out of its batch, where the batch says which row it is."""
    if bad.source is None or bad.row is None:
        return None
    import pyarrow.compute as pc

    for task in tasks:
        if not isinstance(task, TableBatch) or not {SOURCE_COLUMN, ROW_COLUMN} <= set(task.columns):
            continue
        same_row = task.data.filter(pc.equal(task.data.column(ROW_COLUMN), bad.row))
        # A dictionary is compared by its values: kernels for it are missing in some versions of Arrow.
        same = [source == bad.source for source in same_row.column(SOURCE_COLUMN).to_pylist()]
        if any(same):
            return task.with_data(same_row.filter(same))
    return None


def _as_table(task: Task[Any]) -> tuple[str, pa.Table] | None:
    import pyarrow as pa

    if isinstance(task, TableBatch):
        return "table", task.data
    if isinstance(task.data, bytes):
        return "bytes", pa.table({_COLUMN: pa.array([task.data], pa.large_binary())})
    if type(task) is Task and _is_json(task.data):
        return "json", pa.table({_COLUMN: pa.array([json.dumps(task.data)], pa.large_string())})
    return None


def _value(kind: str, table: pa.Table) -> Any:
    if kind == "table":
        return table
    value = table.column(_COLUMN)[0].as_py()
    return json.loads(value) if kind == "json" else value


def _is_json(value: Any) -> bool:
    """Return whether JSON gives a value back as it was: no tuples, no keys that are numbers, no objects."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError, RecursionError):
        return False
