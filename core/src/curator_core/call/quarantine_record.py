"""The record of a task or row that could not be processed: what, where, why, how often it was tried."""

from __future__ import annotations

import base64
import hashlib
import itertools
import traceback
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN
from curator_core.values.errors import DataError
from curator_core.values.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curator_core.authoring.recording import BadRecord
    from curator_core.authoring.stage import WorkerInfo
    from curator_core.authoring.tasks import Task

__all__ = ["QuarantineRecord", "record_for_bad_record", "record_for_task"]

_PREVIEW_CHARS = 2_000
_ID_COLUMN = "id"
_MAX_PLACES = 1_000
_SHOWN_PLACES = 3


@dataclass(frozen=True)
class QuarantineRecord:
    """One task or record in quarantine.

    Args:
        stage: Stage that failed.
        task_id: Task it was part of.
        source: File it came from, where known.
        row: Record number or byte offset in that file, where known.
        rows: How many rows are in quarantine through this record.
        places: Where they are, if they are several: file, first row, last row and how many, for each file in turn.
        error_type: Class of the exception.
        message: Message of the error.
        traceback: Where it was raised; None for a record that a reader refused.
        attempts: How often it was tried.
        payload: The record, or the beginning of it, for a person to look at.
        row_id: The row's own ``id``, where it has such a column.
        is_part: Whether only these rows of the task failed, and the others went on.
        worker: Worker it failed in.
        node: Machine of that worker.
        time: When, in UTC (ISO 8601).
        payload_file: File in ``quarantine/payloads`` of the run directory that holds the rows or the task, for a retry.
        record_id: Made of stage, task, source and row, so that it stays the same when the run is repeated.
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
    row_id: str | None = None
    is_part: bool = False
    worker: str | None = None
    node: str | None = None
    time: str = ""
    payload_file: str | None = None
    record_id: str = ""
    places: tuple[tuple[str, int, int, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.record_id:
            object.__setattr__(self, "record_id", _record_id(self, ordinal=0))
        if not self.time:
            object.__setattr__(self, "time", datetime.now(timezone.utc).isoformat(timespec="milliseconds"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "places": [list(each) for each in self.places]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> QuarantineRecord:
        """Return the record that :meth:`to_dict` described; keys of other versions are ignored."""
        known = {each.name for each in fields(cls)}
        places = tuple(tuple(each) for each in values.get("places", ()))
        return cls(**{**{name: value for name, value in values.items() if name in known}, "places": places})

    @property
    def where(self) -> str:
        """``file:row`` as far as it is known, of the first and last row where there are several; else the task id."""
        if self.source is None:
            return f"task {self.task_id}"
        if len(self.places) > 0:
            runs = ", ".join(f"{source}:{first} to {last}" for source, first, last, _ in self.places[:_SHOWN_PLACES])
            more = len(self.places) - _SHOWN_PLACES
            return f"{self.rows:,} rows ({runs}{f' and {more:,} more' if more > 0 else ''})"
        return self.source if self.row is None else f"{self.source}:{self.row}"

    @property
    def retry_id(self) -> str:
        """Id of the task that a retry makes: a whole task keeps its own, rows get one below it.

        So the output of a retry has its own name wherever the task has output already.
        """
        return f"{self.task_id}/q{self.record_id}".lstrip("/") if self.is_part else self.task_id

    def redacted(self) -> QuarantineRecord:
        """Return the record without secrets in its texts."""
        return replace(
            self,
            source=_redacted(self.source),
            message=redact(self.message),
            traceback=_redacted(self.traceback),
            payload=_redacted(self.payload),
        )


def record_for_task(
    stage: str,
    task: Task[Any],
    error: BaseException,
    *,
    attempts: int,
    worker: WorkerInfo | None = None,
    is_part: bool = False,
    ordinal: int = 0,
) -> QuarantineRecord:
    """Describe a task that kept failing.

    Args:
        stage: Name of the stage.
        task: The task, or a part of it.
        error: Error of the last call.
        attempts: How often it was tried.
        worker: Where.
        is_part: Whether the other rows of the task went on.
        ordinal: Which of the task's parts it is; tells apart rows whose place in a file is unknown.
    """
    source, row = task.source
    if isinstance(error, DataError) and error.source is not None:
        source, row = error.source, error.row
    record = QuarantineRecord(
        stage=stage,
        task_id=task.task_id,
        source=source,
        row=row,
        rows=task.num_items,
        error_type=type(error).__name__,
        message=_shown(error, str),
        traceback="".join(traceback.format_exception(type(error), error, error.__traceback__)),
        attempts=attempts,
        payload=_preview(_payload_of(task)),
        row_id=_row_id(task),
        is_part=is_part,
        worker=None if worker is None else worker.worker_id,
        node=None if worker is None else worker.node_id,
        places=_places(task),
    )
    return replace(record, record_id=_record_id(record, ordinal=ordinal if is_part and row is None else 0))


def _places(task: Task[Any]) -> tuple[tuple[str, int, int, int], ...]:
    """Return where the rows of a table are, if they are several: file, first and last row, how many, file by file."""
    names = getattr(task.data, "column_names", ())
    if task.num_items <= 1 or SOURCE_COLUMN not in names or ROW_COLUMN not in names:
        return ()
    rows = zip(task.data.column(SOURCE_COLUMN).to_pylist(), task.data.column(ROW_COLUMN).to_pylist(), strict=True)
    found = []
    for source, run in itertools.groupby(rows, key=itemgetter(0)):
        numbers = [row for _, row in run if row is not None]
        if source is not None and numbers:
            found.append((redact(source), numbers[0], numbers[-1], len(numbers)))
    return tuple(found[:_MAX_PLACES])


def record_for_bad_record(
    stage: str, task_id: str, bad: BadRecord, *, worker: WorkerInfo | None = None, ordinal: int = 0
) -> QuarantineRecord:
    """Describe a record that a stage refused while the rest of its task went on.

    Args:
        stage: Name of the stage.
        task_id: The task.
        bad: Report of the stage.
        worker: Where.
        ordinal: How many records of the task were refused at the same place before it.
    """
    record = QuarantineRecord(
        stage=stage,
        task_id=task_id,
        source=bad.source,
        row=bad.row,
        rows=bad.rows,
        error_type=bad.error_type,
        message=bad.message,
        payload=_preview(bad.payload),
        is_part=True,
        worker=None if worker is None else worker.worker_id,
        node=None if worker is None else worker.node_id,
    )
    return replace(record, record_id=_record_id(record, ordinal=ordinal))


def _record_id(record: QuarantineRecord, *, ordinal: int) -> str:
    parts = (record.stage, record.task_id, record.source, record.row, record.is_part, ordinal)
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _redacted(text: str | None) -> str | None:
    return None if text is None else redact(text)


def _row_id(task: Task[Any]) -> str | None:
    if task.num_items != 1 or _ID_COLUMN not in getattr(task.data, "column_names", ()):
        return None
    value = task.data.column(_ID_COLUMN)[0].as_py()
    return None if value is None else _preview(value)


def _payload_of(task: Task[Any]) -> object:
    if task.num_items == 1 and hasattr(task.data, "to_pylist"):  # one row of an Arrow table
        return task.data.to_pylist()[0]
    return None if hasattr(task.data, "to_pylist") else task.data


def _shown(value: object, how: Callable[[object], str]) -> str:
    """Return a value as text; objects of any class may fail to have one."""
    try:
        return how(value)
    except Exception as error:  # noqa: BLE001 - isolation border: the record is kept all the same
        return f"<{type(value).__name__} that raises {type(error).__name__} when it is shown>"


def _preview(payload: object) -> str | None:
    if payload is None:
        return None
    if isinstance(payload, bytes):
        head = payload[:_PREVIEW_CHARS]
        try:
            text = head.decode("utf-8")
        except UnicodeDecodeError:
            text = "base64:" + base64.b64encode(head).decode("ascii")
    else:
        text = payload if isinstance(payload, str) else _shown(payload, repr)
    # Lone surrogates cannot be written as UTF-8; they are shown as escapes.
    return text[:_PREVIEW_CHARS].encode("utf-8", "backslashreplace").decode("utf-8")
