"""Find equal values in memory, as the workflow does, without its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from curator_core.sdk import column_bytes
from curator_dedup.content_hash import normalized
from curator_dedup.exact.hashing import hash_values

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["find_exact_duplicates"]


def find_exact_duplicates(
    values: pa.Array | pa.ChunkedArray | Sequence[str | bytes | None], *, normalize: bool = False
) -> pa.Table:
    """Return which values are the same as others before them, as :class:`ExactDeduplicationWorkflow` finds them.

    >>> find_exact_duplicates(["a", "b", "a", None, None]).to_pylist()
    [{'document': 2, 'kept': 0}]

    Args:
        values: Texts or bytes; a null is never a duplicate.
        normalize: Compare text in lower case, with runs of whitespace as one space and none at the ends.

    Returns:
        ``document``, the place of a value that is a duplicate, and ``kept``, that of the first one like it.
    """
    from curator_dedup.kernels.first_equal import first_equal

    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if normalize:
        array = normalized(pl.Series(array, dtype=pl.String)).to_arrow()
    column = column_bytes(array.cast(pa.string()) if pa.types.is_null(array.type) else array)
    there = np.ones(column.num_values, np.bool_) if column.is_null is None else ~column.is_null
    firsts = np.arange(column.num_values)
    first_equal(hash_values(column), np.flatnonzero(there), firsts)
    repeated = np.flatnonzero(firsts != np.arange(len(firsts)))
    return pa.table({"document": repeated, "kept": firsts[repeated]})
