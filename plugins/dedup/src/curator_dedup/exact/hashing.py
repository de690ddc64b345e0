"""128-bit hashes of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import ColumnBytes

__all__ = ["hash_spans", "hash_values"]

_WORD = 8


def hash_values(column: ColumnBytes) -> NDArray[np.uint64]:
    """Return the two halves of the hash of each value of a column, one value a row.

    >>> from curator_core.authoring.column_bytes import column_bytes
    >>> import pyarrow as pa
    >>> hashes = hash_values(column_bytes(pa.array(["same", "same", "other"])))
    >>> bool((hashes[0] == hashes[1]).all()), bool((hashes[0] == hashes[2]).any())
    (True, False)
    """
    return hash_spans(column.data, column.offsets[:-1], column.offsets[1:])


def hash_spans(data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the two halves of the hash of some spans of bytes, one span a row."""
    from curator_dedup.kernels.content_hashes import content_hashes

    hashes = np.empty((len(begins), 2), np.uint64)
    if len(begins):
        start = int(begins.min()) // _WORD * _WORD
        used = data[start : int(ends.max())]
        padded = np.zeros((len(used) // _WORD + 2) * _WORD, np.uint8)  # whole numbers are looked at, also at the end
        padded[: len(used)] = used
        content_hashes(padded.view("<u8"), begins - start, ends - start, hashes)
    return hashes
