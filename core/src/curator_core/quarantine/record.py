"""The record of a task or row that could not be processed: what, where, why, how often it was tried."""

from __future__ import annotations

import base64
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from curator_core.errors import DataError

if TYPE_CHECKING:
    from curator_core.recording import BadRecord
    from curator_core.tasks import Task

__all__ = ["QuarantineRecord", "record_for_bad_record", "record_for_task"]

_PAYLOAD_CHARS = 2_000


@dataclass(frozen=True)
class QuarantineRecord:
    """One task or record kept aside.

    Args:
        stage: Stage that failed.
        task_id: Task it was part of.
        source: File it came from, where known.
        row: Record number or byte offset in that file, where known.
        rows: How many rows are in quarantine through this record.
        error_type: Class of the exception.
        message: What it said.
        traceback: Where it was raised; None for a record that a reader refused.
        attempts: How often it was tried.
        payload: The record, or the beginning of it, for a person to look at.
    """

    stage: str
    task_id: str
    source: str | None
    row: int | None
    rows: int
    error_type: str
    message: str
    traceback: str | None = None
    attempts: int = 1
    payload: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    @property
    def where(self) -> str:
        """``file:row`` as far as it is known, else the task id."""
        if self.source is None:
            return f"task {self.task_id}"
        return self.source if self.row is None else f"{self.source}:{self.row}"


def record_for_task(stage: str, task: Task[Any], error: BaseException, *, attempts: int) -> QuarantineRecord:
    """Describe a task that kept failing."""
    source, row = task.source
    if isinstance(error, DataError) and error.source is not None:
        source, row = error.source, error.row
    return QuarantineRecord(
        stage=stage,
        task_id=task.task_id,
        source=source,
        row=row,
        rows=task.num_items,
        error_type=type(error).__name__,
        message=str(error),
        traceback="".join(traceback.format_exception(type(error), error, error.__traceback__)),
        attempts=attempts,
        payload=_preview(_payload_of(task)),
    )


def record_for_bad_record(stage: str, task_id: str, bad: BadRecord) -> QuarantineRecord:
    """Describe a record that a stage refused while the rest of its task went on."""
    return QuarantineRecord(
        stage=stage,
        task_id=task_id,
        source=bad.source,
        row=bad.row,
        rows=1,
        error_type=bad.error_type,
        message=bad.message,
        payload=_preview(bad.payload),
    )


def _payload_of(task: Task[Any]) -> object:
    if task.num_items == 1 and hasattr(task.data, "to_pylist"):  # one row of an Arrow table
        return task.data.to_pylist()[0]
    return None if hasattr(task.data, "to_pylist") else task.data


def _preview(payload: object) -> str | None:
    if payload is None:
        return None
    if isinstance(payload, bytes):
        head = payload[:_PAYLOAD_CHARS]
        try:
            text = head.decode("utf-8")
        except UnicodeDecodeError:
            text = "base64:" + base64.b64encode(head).decode("ascii")
    else:
        text = payload if isinstance(payload, str) else repr(payload)
    # Lone surrogates cannot be written as UTF-8; they are shown as escapes.
    return text[:_PAYLOAD_CHARS].encode("utf-8", "backslashreplace").decode("utf-8")
