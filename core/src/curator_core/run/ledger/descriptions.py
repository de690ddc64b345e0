"""Tasks in the ledger: the files of a source task, and outputs in a form that gives them back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import FileGroupTask, FileSlice, TableBatch, Task
from curator_core.values.redaction import redact, redact_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CONFIDENTIAL", "as_json", "content_hash", "describe_files", "describe_output", "output_from"]

CONFIDENTIAL = "holds a secret, which is not for the disk"
"""Why an output is not described that could be."""
_NOT_PLAIN = "is neither a file nor a small plain value"
_MAX_CHARS = 1 << 16
_MAX_PARTS = 1_000


def describe_files(task: Task[Any]) -> list[dict[str, Any]] | None:
    """Return the files of a source task, without secrets in their addresses, or None where it has none.

    >>> describe_files(FileGroupTask(data=["a.jsonl"]))
    [{'path': 'a.jsonl'}]
    """
    if not isinstance(task, FileGroupTask):
        return None
    return [_slice_to_json(each) | {"path": redact_credentials(each.path)} for each in task.data]


def content_hash(task: Task[Any]) -> str | None:
    """Return a hash of the content of a source task without files, if it is cheap to compute."""
    if isinstance(task, FileGroupTask):
        return None
    data = f"{task.num_items} rows of {task.data.schema}" if isinstance(task, TableBatch) else as_json(task.data)
    if data is None:
        return None
    return hashlib.blake2b(data.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def describe_output(task: Task[Any]) -> dict[str, Any] | str:
    """Return an output as plain values from which :func:`output_from` makes it again, or the reason why there are none.

    Files that a writer made, and small plain values, can be described. Tables cannot: they would have to be stored. Nor
    can what has a secret in it, such as the address of a file. Paths may hold other values from variables.
    """
    if type(task) not in (Task, FileGroupTask):
        return _NOT_PLAIN
    plain: dict[str, Any] = {"id": task.task_id}
    if task.dataset_name:
        plain["dataset"] = task.dataset_name
    if task.meta:
        plain["meta"] = task.meta
    files: dict[str, Any] = {}
    if isinstance(task, FileGroupTask):
        files["files"] = [_slice_to_json(each) for each in task.data]
    else:
        plain["data"] = task.data
    text, paths = as_json(plain), as_json(files)
    if text is None or paths is None:
        return _NOT_PLAIN
    if redact(text) != text or redact_credentials(paths) != paths:
        return CONFIDENTIAL
    return plain | files


def output_from(plain: Mapping[str, Any]) -> Task[Any]:
    """Make the output that :func:`describe_output` described."""
    shared: dict[str, Any] = {
        "task_id": plain["id"],
        "dataset_name": plain.get("dataset", ""),
        "meta": dict(plain.get("meta", {})),
    }
    if "files" in plain:
        return FileGroupTask(data=tuple(_slice_from_json(each) for each in plain["files"]), **shared)
    return Task(data=plain["data"], **shared)


def as_json(value: Any) -> str | None:
    """Return a value as JSON, or None where it is large or would come back as another."""
    if type(value) is int or value is None:  # the usual case where tasks are many, which need not be tried
        return json.dumps(value)
    if not _is_small(value, depth=6):
        return None
    try:
        text = json.dumps(value)
        is_same = len(text) <= _MAX_CHARS and bool(json.loads(text) == value)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if is_same else None


def _is_small(value: Any, depth: int) -> bool:
    """Return whether a value is plain and has few parts, without looking at many of them."""
    if value is None or isinstance(value, (bool, int, float)):
        return True
    if isinstance(value, str):
        return len(value) <= _MAX_CHARS
    if not isinstance(value, (list, dict)) or len(value) > _MAX_PARTS or depth == 0:
        return False
    parts = value if isinstance(value, list) else value.values()
    return all(_is_small(each, depth - 1) for each in parts)


_DEFAULTS = {each.name: each.default for each in fields(FileSlice)}


def _slice_to_json(piece: FileSlice) -> dict[str, Any]:
    values = ((name, getattr(piece, name)) for name in _DEFAULTS)
    plain = {name: value for name, value in values if value != _DEFAULTS[name]}
    return plain | {"row_groups": list(piece.row_groups)} if piece.row_groups is not None else plain


def _slice_from_json(plain: Mapping[str, Any]) -> FileSlice:
    values = dict(plain)
    if values.get("row_groups") is not None:
        first, after = values["row_groups"]
        values["row_groups"] = (first, after)
    return FileSlice(**values)
