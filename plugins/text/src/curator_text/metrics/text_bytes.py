"""The documents of a text column, all or some of them, as compiled kernels read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from curator_core.sdk import ColumnBytes, column_bytes
from curator_text.kernels.read_only import read_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch

__all__ = ["TextBytes", "text_bytes", "text_bytes_of", "text_pieces"]

_PIECE_BYTES = 1 << 20
"""Pieces of a column that are at least as large on average are not joined: copying them takes longer than calling
kernels once more for each."""


@dataclass(frozen=True)
class TextBytes(ColumnBytes):
    """The documents of a column; the first begins at zero, and nothing can be written to.

    Args:
        rows: Numbers of the documents to measure; None for all. Values for the others are not used.
    """

    rows: NDArray[np.int64] | None = None

    @property
    def num_documents(self) -> int:
        """Number of documents."""
        return self.num_values

    @property
    def rows_to_measure(self) -> NDArray[np.int64]:
        """Numbers of the documents to measure."""
        return read_only(np.arange(self.num_documents, dtype=np.int64)) if self.rows is None else self.rows

    def only(self, wanted: NDArray[np.bool_]) -> TextBytes:
        """Return the same documents, with only some to be measured."""
        return replace(self, rows=read_only(np.flatnonzero(wanted)))

    def series(self) -> pl.Series:
        """Return all documents as a polars string column that shares the bytes; nulls are empty."""
        import polars as pl
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        array = pa.Array.from_buffers(pa.large_string(), self.num_documents, buffers)
        return pl.Series("text", array)

    def texts_to_measure(self) -> Iterator[str]:
        """Yield the documents to measure, one at a time."""
        for row in self.rows_to_measure.tolist():
            yield self.data[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()


def text_bytes(texts: pl.Series) -> TextBytes:
    """Return the bytes of a string column.

    >>> import polars as pl
    >>> text_bytes(pl.Series(["né", None, "b"])).offsets.tolist()
    [0, 3, 3, 4]
    """
    return _from_zero(column_bytes(texts.to_arrow()))


def text_bytes_of(batch: TableBatch, text_column: str) -> TextBytes:
    """Return the bytes of a text column; the buffers are shared where the column is one piece of Arrow strings.

    Raises:
        StageError: There is no such column, or it does not hold strings.
    """
    batch.check_column(text_column)
    column = batch.data.column(text_column)
    if _is_string(column.type):
        return _from_zero(column_bytes(column))
    return text_bytes(batch.text(text_column))


def text_pieces(batch: TableBatch, text_column: str) -> list[TextBytes]:
    """Return the bytes of a text column in one piece, or in the pieces it has where these are large.

    Raises:
        StageError: There is no such column, or it does not hold strings.
    """
    batch.check_column(text_column)
    column = batch.data.column(text_column)
    if column.num_chunks > 1 and _is_string(column.type) and column.nbytes >= column.num_chunks * _PIECE_BYTES:
        return [_from_zero(column_bytes(chunk)) for chunk in column.chunks]
    return [text_bytes_of(batch, text_column)]


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _from_zero(column: ColumnBytes) -> TextBytes:
    first, last = int(column.offsets[0]), int(column.offsets[-1])
    offsets = column.offsets - first if first else column.offsets
    return TextBytes(read_only(column.data[first:last]), read_only(offsets), column.is_null)
