"""For stages that look into each row's file: quarantine the rows that cannot be read, add columns for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import polars as pl
import pyarrow as pa

from curator_core.authoring.recording import BadRecord, report
from curator_core.values.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.authoring.tasks import TableBatch

    BatchT = TypeVar("BatchT", bound=TableBatch)

__all__ = ["add_attributes", "keep_readable"]

T = TypeVar("T")


def keep_readable(batch: BatchT, outcomes: Sequence[T | DataError], *, error_type: str) -> tuple[BatchT, list[T]]:
    """Return the rows whose outcome is not an error, and their outcomes.

    The others are reported for quarantine, with the file and record they came from.

    Args:
        batch: The rows.
        outcomes: What was found for each row, or the error.
        error_type: Class of the error in the quarantine (``UnreadableImage``), unless it has one of its own
            (``LocationError``).
    """
    found = [outcome for outcome in outcomes if not isinstance(outcome, DataError)]
    if len(found) == batch.num_rows:
        return batch, found
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, DataError):
            source, row = batch.row_source(index)
            message = outcome.message.removeprefix(f"{source}: ")
            kind = error_type if type(outcome) is DataError else type(outcome).__name__
            report().bad_record(BadRecord(message, source=source, row=row, error_type=kind))
    readable = [not isinstance(outcome, DataError) for outcome in outcomes]
    return batch.with_rows(pl.Series(readable, dtype=pl.Boolean)), found


def add_attributes(batch: BatchT, values: Sequence[object], columns: Mapping[str, pa.DataType]) -> BatchT:
    """Add a column per attribute of one value per row; null where the value is None."""
    for name, kind in columns.items():
        batch = batch.with_column(name, pa.array([getattr(value, name, None) for value in values], kind))
    return batch
