"""Join tables of neighbouring files where that changes no value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from curator_core.authoring.tasks import concat_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["join_tables"]

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
    if len(tables) == 1 or _is_sparse(tables, batch_bytes):
        return tables
    try:
        return [concat_tables(tables)]
    except _CONFLICTS:  # also of an integer that no float holds exactly
        return tables


def _is_sparse(tables: Sequence[pa.Table], batch_bytes: int) -> bool:
    """Whether most of the joined table would be nulls, in columns that only some of the tables have."""
    names = set().union(*(table.column_names for table in tables))
    rows = sum(table.num_rows for table in tables)
    filled = sum(table.num_rows * table.num_columns for table in tables)
    return bool((len(names) * rows - filled) * _CELL_BYTES > batch_bytes)
