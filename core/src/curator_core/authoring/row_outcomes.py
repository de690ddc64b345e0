"""For stages that look into each row's file: quarantine the rows that cannot be read, add columns for the others."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, TypeVar

import polars as pl
import pyarrow as pa

from curator_core.authoring.recording import BadRecord, report
from curator_core.values.errors import CuratorError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.authoring.tasks import TableBatch

    BatchT = TypeVar("BatchT", bound=TableBatch)

__all__ = ["add_attributes", "keep_readable", "refuse_rows"]

T = TypeVar("T")


def keep_readable(batch: BatchT, outcomes: Sequence[T | DataError], *, error_type: str) -> tuple[BatchT, list[T]]:
    """Return the rows whose outcome is not an error, and their outcomes; the others are quarantined.

    >>> from curator_core import TableBatch
    >>> from curator_core.sdk import Recording
    >>> batch = TableBatch(data={"key": ["a", "b"]})
    >>> with Recording().active() as recording:
    ...     kept, sizes = keep_readable(batch, [640, DataError("no image")], error_type="UnreadableImage")
    >>> kept.data["key"].to_pylist(), sizes, recording.bad_records[0].error_type
    (['a'], [640], 'UnreadableImage')

    Args:
        batch: The rows.
        outcomes: What was found for each row, or the error.
        error_type: Class of the error in the quarantine (``UnreadableImage``), unless it has one of its own
            (``LocationError``).
    """
    errors = {index: each for index, each in enumerate(outcomes) if isinstance(each, DataError)}
    found = [outcome for outcome in outcomes if not isinstance(outcome, DataError)]
    return refuse_rows(batch, errors, error_type=error_type), found


def refuse_rows(batch: BatchT, errors: Mapping[int, Exception], *, error_type: str = "DataError") -> BatchT:
    """Return a batch without some rows, which are quarantined with the file and record they came from.

    >>> from curator_core import TableBatch
    >>> from curator_core.sdk import Recording
    >>> with Recording().active() as recording:
    ...     left = refuse_rows(TableBatch(data={"n": [1, 2]}), {1: DataError("2 is even")})
    >>> left.num_rows, recording.bad_records[0].message
    (1, '2 is even')

    Args:
        batch: The rows.
        errors: The error of each such row, by its number in the batch.
        error_type: Class of the error in the quarantine, of errors that are a plain DataError.
    """
    if not errors:
        return batch
    for index, error in sorted(errors.items()):
        source, row = batch.row_source(index)
        message = _told(error).removeprefix(f"{source}: ")
        kind = error_type if type(error) is DataError else type(error).__name__
        report().bad_record(BadRecord(message, source=source, row=row, error_type=kind))
    return batch.with_rows(pl.Series([index not in errors for index in range(batch.num_rows)], dtype=pl.Boolean))


def _told(error: Exception) -> str:
    """Return an error in a line: of one that is not ours, also its class and the place that raised it."""
    if isinstance(error, CuratorError):
        return error.message
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} (line {place.lineno} of {place.name})"


def add_attributes(batch: BatchT, values: Sequence[object], columns: Mapping[str, pa.DataType]) -> BatchT:
    """Add a column per attribute of one value per row; null where the value is None.

    >>> from types import SimpleNamespace
    >>> import pyarrow as pa
    >>> from curator_core import TableBatch
    >>> sizes = [SimpleNamespace(width=640), None]
    >>> add_attributes(TableBatch(data={"key": ["a", "b"]}), sizes, {"width": pa.int64()}).data["width"].to_pylist()
    [640, None]
    """
    for name, kind in columns.items():
        batch = batch.with_column(name, pa.array([getattr(value, name, None) for value in values], kind))
    return batch
