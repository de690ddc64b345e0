"""Values computed from a column of a table, remembered while the table lives and carried over to what is made of it.

Neighbouring filters often need the same numbers. The first that asks computes them; when it drops rows, those of the
rows that stay go along, so that the next filter finds them. Arrow tables never change, so what was computed from one
stays true. Nothing of this is part of the data: it is not written, and it does not travel to other processes.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import polars as pl
    import pyarrow as pa

__all__ = ["carry_columns", "carry_rows", "derived", "known_of"]

# By the identity of tables, which cannot be hashed. An entry goes away with its table, before another can get its id.
_remembered: dict[int, dict[tuple[str, Hashable], pl.DataFrame]] = {}


def derived(table: pa.Table, column: str, key: Hashable, compute: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return what was computed from a column of a table before, or compute and remember it.

    >>> import polars as pl
    >>> import pyarrow as pa
    >>> table = pa.table({"text": ["one", "three"]})
    >>> derived(table, "text", "length", lambda: pl.DataFrame({"chars": [3, 5]}))["chars"].to_list()
    [3, 5]

    Args:
        table: The table.
        column: Name of the column it depends on.
        key: What is computed, with all parameters that change it.
        compute: Makes a frame with one row for each row of the table.
    """
    values = _values_of(table)
    found = values.get((column, key))
    if found is None:
        found = values[column, key] = compute()
    return found


def known_of(table: pa.Table, column: str, key: Hashable) -> pl.DataFrame | None:
    """Return what was computed from a column of a table before, or None.

    >>> import pyarrow as pa
    >>> known_of(pa.table({"text": ["a"]}), "text", "words") is None
    True
    """
    return _remembered.get(id(table), {}).get((column, key))


def carry_rows(table: pa.Table, kept: pa.Table, mask: pl.Series) -> None:
    """Remember for the rows that were kept of a table, those for which the mask is true, what is known about them."""
    known = _remembered.get(id(table))
    if known:
        _values_of(kept).update({key: frame.filter(mask) for key, frame in known.items()})


def carry_columns(table: pa.Table, changed: pa.Table, column: str) -> None:
    """Remember what is known about a table for one that differs in a column, which was added or replaced."""
    known = _remembered.get(id(table))
    if known:
        _values_of(changed).update({key: frame for key, frame in known.items() if key[0] != column})


def _values_of(table: pa.Table) -> dict[tuple[str, Hashable], pl.DataFrame]:
    known = _remembered.get(id(table))
    if known is None:
        known = _remembered[id(table)] = {}
        weakref.finalize(table, _remembered.pop, id(table), None)
    return known
