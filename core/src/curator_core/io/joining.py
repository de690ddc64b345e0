"""Join tables of neighbouring files where that changes no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from curator_core.io.json_columns import EXACT_FLOAT
from curator_core.tasks import concat_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["join_tables"]

_CONFLICTS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def join_tables(tables: Iterable[pa.Table], batch_bytes: int) -> Iterator[pa.Table]:
    """Yield the same rows in fewer tables, of up to ``batch_bytes`` each.

    A column that a table lacks is null there; numeric types are widened where every value stays exact. Tables whose
    columns disagree otherwise (numbers here, text there) stay apart, each with its own types.
    """
    waiting: list[pa.Table] = []
    waiting_bytes = 0
    for table in tables:
        size = table.nbytes
        if waiting and waiting_bytes + size > batch_bytes:
            yield from _join(waiting)
            waiting, waiting_bytes = [], 0
        waiting.append(table)
        waiting_bytes += size
    if waiting:
        yield from _join(waiting)


def _join(tables: list[pa.Table]) -> list[pa.Table]:
    if len(tables) == 1 or not _stays_exact(tables):
        return tables
    try:
        return [concat_tables(tables)]
    except _CONFLICTS:
        return tables


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
    return bounds["min"] is None or max(-bounds["min"], bounds["max"]) <= EXACT_FLOAT


def _holds_float(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind)) or any(_holds_float(child) for child in _children(kind))


def _holds_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind)) or any(_holds_integer(child) for child in _children(kind))


def _children(kind: pa.DataType) -> list[pa.DataType]:
    return [kind.field(index).type for index in range(kind.num_fields)] if pa.types.is_nested(kind) else []
