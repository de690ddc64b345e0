"""Give the tables of a typed file the types that its columns have in the whole run, exactly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import PROVENANCE_COLUMNS, ROW_COLUMN, BadRecord, DataError, report
from curator_table.types.type_union import TypeConflictError, union_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["conform"]

_REPORTED_ROWS = 1000
_SHOWN_CHARS = 256


def conform(
    tables: Iterable[pa.Table], types: pa.Schema, path: str, columns: Sequence[str] | None
) -> Iterator[pa.Table]:
    """Yield tables with the columns and types of the run; a column that the file lacks is null.

    A row with a value that does not fit exactly is reported as a bad record; the others come out.

    Args:
        tables: The tables of one file, with their provenance.
        types: Types of the columns of the run.
        path: The file.
        columns: The requested columns, which the tables have, in this order; all, where None.

    Raises:
        DataError: The file has a column that the run has not, or one of another type.
    """
    for table in tables:
        names = types.names if columns is None else columns
        names = [name for name in names if name not in PROVENANCE_COLUMNS]
        own = [name for name in table.column_names if name not in PROVENANCE_COLUMNS]
        for name in own:
            if name not in names:
                raise DataError(
                    f"column {name!r} is in none of the files that were looked at before the run",
                    source=path,
                    fix=f"give its type: schema: {{{name}: {table.schema.field(name).type}}}, or name the columns you "
                    "need with columns: […]",
                )
        fields = [types.field(name) if name in types.names else pa.field(name, pa.null()) for name in names]
        yield from _typed(table, fields, path)


def _typed(table: pa.Table, fields: list[pa.Field], path: str) -> Iterator[pa.Table]:
    arrays: list[Any] = []
    misfits = np.zeros(table.num_rows, dtype=bool)
    for field in fields:
        index = table.schema.get_field_index(field.name)
        if index < 0:
            arrays.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table.column(index)
        if not column.type.equals(field.type):
            _check_fits(field, column.type, path)
            column, wrong = _cast(column, field.type)
            _report(table, field, np.flatnonzero(wrong & ~misfits), path)
            misfits |= wrong
        arrays.append(column)
    provenance = [table.column(name) for name in PROVENANCE_COLUMNS]
    typed = pa.Table.from_arrays([*arrays, *provenance], names=[*(field.name for field in fields), *PROVENANCE_COLUMNS])
    typed = typed.filter(pa.array(~misfits)) if misfits.any() else typed
    if typed.num_rows:
        yield typed


def _check_fits(field: pa.Field, kind: pa.DataType, path: str) -> None:
    try:
        fits = union_type(field.type, kind).equals(field.type)
    except TypeConflictError:
        fits = False
    if not fits:
        raise DataError(
            f"column {field.name!r} is {kind} in this file and {field.type} in this run",
            source=path,
            fix="convert the file, or leave the column out with columns: […]",
        )


def _cast(column: Any, kind: pa.DataType) -> tuple[Any, NDArray[np.bool_]]:
    """Return the column in another type, and the rows whose values would change, which have any value in it."""
    wrong = np.zeros(len(column), dtype=bool)
    try:
        return column.cast(kind), wrong
    except pa.ArrowInvalid:
        _mark(column, kind, wrong, 0)
    valid = pa.chunked_array([pa.nulls(1, column.type)]) if wrong.all() else column.filter(pa.array(~wrong))
    places = np.where(wrong, 0, np.cumsum(~wrong) - 1)
    return valid.cast(kind).take(pa.array(places)), wrong


def _mark(column: Any, kind: pa.DataType, wrong: NDArray[np.bool_], start: int) -> None:
    """Mark the rows that cannot be cast: halve until they are alone."""
    try:
        column.cast(kind)
    except pa.ArrowInvalid:
        if len(column) == 1:
            wrong[start] = True
            return
        middle = len(column) // 2
        _mark(column.slice(0, middle), kind, wrong, start)
        _mark(column.slice(middle), kind, wrong, start + middle)


def _report(table: pa.Table, field: pa.Field, places: NDArray[np.int64], path: str) -> None:
    rows = table.column(ROW_COLUMN)
    message = f"column {field.name!r} is {field.type} in this run, and the value would not be the same in it"
    for place in places[:_REPORTED_ROWS].tolist():
        value = str(table.column(field.name)[place].as_py())
        report().bad_record(BadRecord(message, path, rows[place].as_py(), "WrongType", value[:_SHOWN_CHARS]))
    more = len(places) - _REPORTED_ROWS
    if more > 0:
        last = rows[int(places[-1])].as_py()
        report().bad_record(BadRecord(f"{more:,} more rows: {message}", path, last, "WrongType", rows=more))
