"""A column of text or bytes as one run of bytes and its offsets: what compiled kernels work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ColumnBytes", "column_bytes"]


@dataclass(frozen=True)
class ColumnBytes:
    """The values of a column, without a Python object for each.

    >>> import pyarrow as pa
    >>> column_bytes(pa.array(["ab", None, "c"])).offsets.tolist()
    [0, 2, 2, 3]

    Args:
        data: The bytes of the values (UTF-8 for text), one after the other.
        offsets: Where each value starts in ``data``, and where the last one ends. A null is an empty value.
        is_null: Which values are null; None where none is.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    is_null: NDArray[np.bool_] | None

    @property
    def num_values(self) -> int:
        """Number of values."""
        return len(self.offsets) - 1


def column_bytes(column: pa.ChunkedArray | pa.Array) -> ColumnBytes:
    """Return the bytes of a column of strings or binary; buffers are shared where the column is one piece.

    >>> import pyarrow as pa
    >>> column_bytes(pa.array(["né", None, "b"])).offsets.tolist()
    [0, 3, 3, 4]
    """
    array = _one_piece(column)
    if len(array) == 0:
        return ColumnBytes(np.empty(0, np.uint8), np.zeros(1, np.int64), None)
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    is_null = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return ColumnBytes(data, offsets, is_null)


def _one_piece(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    wanted = pa.large_string() if is_text or pa.types.is_null(kind) else pa.large_binary()
    if column.type != wanted:
        column = column.cast(wanted)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
