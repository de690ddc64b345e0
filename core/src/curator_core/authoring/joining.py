"""Join tables of neighbouring files where that changes no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from curator_core.authoring.tasks import concat_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["join_tables"]

_EXACT_FLOAT = 2**53  # integers beyond it are not all representable as floats
_CELL_BYTES = 9  # of a place for a value, filled or not: a number or an offset, and whether it is null
_CONFLICTS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def join_tables(tables: Iterable[pa.Table], batch_bytes: int) -> Iterator[pa.Table]:
    """Yield the same rows in fewer tables, of up to ``batch_bytes`` each.

    A column that a table lacks is null there; numeric types are widened where every value stays exact. Tables whose
    columns disagree otherwise (numbers here, text there) stay apart, each with its own types, as do tables that share
    so few columns that nulls would take more than ``batch_bytes``.
    """
    waiting: list[pa.Table] = []
    waiting_bytes = 0
    for table in tables:
        size = table.nbytes
        if waiting and waiting_bytes + size > batch_bytes:
            yield from _join(waiting, batch_bytes)
            waiting, waiting_bytes = [], 0
        waiting.append(table)
        waiting_bytes += size
    if waiting:
        yield from _join(waiting, batch_bytes)


def _join(tables: list[pa.Table], batch_bytes: int) -> list[pa.Table]:
    if len(tables) == 1 or _is_sparse(tables, batch_bytes) or not _stays_exact(tables):
        return tables
    try:
        return [concat_tables(tables)]
    except _CONFLICTS:
        return tables


def _is_sparse(tables: Sequence[pa.Table], batch_bytes: int) -> bool:
    """Whether most of the joined table would be nulls, in columns that only some of the tables have."""
    names = set().union(*(table.column_names for table in tables))
    rows = sum(table.num_rows for table in tables)
    filled = sum(table.num_rows * table.num_columns for table in tables)
    return bool((len(names) * rows - filled) * _CELL_BYTES > batch_bytes)


def _stays_exact(tables: Sequence[pa.Table]) -> bool:
    """Whether no integer would lose digits by becoming a float."""
    first = tables[0].schema
    if all(table.schema.equals(first) for table in tables):
        return True
    columns: dict[str, list[Any]] = {}
    for table in tables:
        for name, column in zip(table.column_names, table.columns, strict=True):
            columns.setdefault(name, []).append(column)
    return all(_column_stays_exact(parts) for parts in columns.values())


def _column_stays_exact(parts: Sequence[Any]) -> bool:
    kinds = {part.type for part in parts}
    if len(kinds) == 1 or not any(map(_holds_float, kinds)) or not any(map(_holds_integer, kinds)):
        return True
    if any(map(pa.types.is_nested, kinds)):
        return False  # rare enough not to look inside
    return all(_is_exact_as_float(part) for part in parts if pa.types.is_integer(part.type))


def _is_exact_as_float(column: Any) -> bool:
    bounds = pc.min_max(column).as_py()
    return bounds["min"] is None or max(-bounds["min"], bounds["max"]) <= _EXACT_FLOAT


def _holds_float(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind)) or any(_holds_float(child) for child in _children(kind))


def _holds_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind)) or any(_holds_integer(child) for child in _children(kind))


def _children(kind: pa.DataType) -> list[pa.DataType]:
    return [kind.field(index).type for index in range(kind.num_fields)] if pa.types.is_nested(kind) else []
