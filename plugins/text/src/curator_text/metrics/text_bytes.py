"""A text column as one run of UTF-8 bytes: what compiled kernels work on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.tasks import TableBatch

__all__ = ["TextBytes", "text_bytes", "text_bytes_of"]


@dataclass(frozen=True)
class TextBytes:
    """The documents of a column, without a Python object for each.

    Args:
        data: The UTF-8 bytes of the documents, one after the other.
        offsets: Where each document starts in ``data``, and where the last one ends. A null is an empty document.
        is_null: Which documents are null; None where none is.
        rows: Numbers of the documents to measure; None for all. Nobody looks at what is returned for the others.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    is_null: NDArray[np.bool_] | None
    rows: NDArray[np.int64] | None = None

    @property
    def num_documents(self) -> int:
        """Number of documents."""
        return len(self.offsets) - 1

    @property
    def rows_to_measure(self) -> NDArray[np.int64]:
        """Numbers of the documents to measure."""
        return np.arange(self.num_documents, dtype=np.int64) if self.rows is None else self.rows

    def only(self, wanted: NDArray[np.bool_]) -> TextBytes:
        """Return the same documents, of which only some are to be measured."""
        return replace(self, rows=np.flatnonzero(wanted))

    def series(self) -> pl.Series:
        """Return all documents as a polars string column that shares the bytes; nulls are empty."""
        import polars as pl
        import pyarrow as pa

        buffers = [None, pa.py_buffer(np.ascontiguousarray(self.offsets)), pa.py_buffer(self.data)]
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
    return _of_array(texts.to_arrow())  # one large_string array, whatever the column came as


def text_bytes_of(batch: TableBatch, text_field: str) -> TextBytes:
    """Return the bytes of a text column; the buffers are shared where the column is one piece of Arrow strings.

    Raises:
        StageError: There is no such column, or it does not hold strings.
    """
    import pyarrow as pa

    batch.check_column(text_field)
    column = batch.data.column(text_field)
    kind = column.type
    if column.num_chunks == 1 and (pa.types.is_large_string(kind) or pa.types.is_string(kind)):
        return _of_array(column.chunk(0))
    return text_bytes(batch.text(text_field))


def _of_array(array: pa.Array) -> TextBytes:
    import pyarrow as pa

    is_null = np.asarray(array.is_null().to_numpy(zero_copy_only=False)) if array.null_count else None
    if len(array) == 0:
        return TextBytes(np.empty(0, np.uint8), np.zeros(1, np.int64), is_null)
    _, offset_buffer, data_buffer = array.buffers()
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    offsets = np.frombuffer(offset_buffer, dtype=width)[array.offset : array.offset + len(array) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, dtype=np.uint8)[first:last] if data_buffer else np.empty(0, dtype=np.uint8)
    from_zero = offsets.astype(np.int64) - first if first or width is np.int32 else offsets
    return TextBytes(data, from_zero, is_null)
