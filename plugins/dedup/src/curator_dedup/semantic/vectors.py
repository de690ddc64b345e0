"""Embeddings as a matrix of unit vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import StageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch

__all__ = ["drawn", "unit_vectors"]

_TINY = 1e-15
"""The squares of shorter vectors are too small for 32 bits."""

_ROWS_AT_ONCE = 16384


def unit_vectors(batch: TableBatch, embedding_column: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the embeddings of a batch, scaled to length one, and which rows have one.

    A row has none where the column is null, where a number of it is not finite, or where all of them are zero.

    Raises:
        StageError: The column holds something else, or embeddings of different lengths.
    """
    batch.check_column(embedding_column)
    column = batch.data.column(embedding_column)
    kind = column.type
    is_list = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not is_list or not (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)):
        raise StageError(
            f"column {embedding_column!r} holds {kind}; embeddings are lists of numbers",
            fix="name the column with the embeddings",
        )
    array = column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    is_there = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    width = _width(array, embedding_column)
    matrix = np.zeros((len(array), width), np.float32)
    values: Any = array.drop_null().flatten().to_numpy(zero_copy_only=False)
    matrix[is_there] = values.astype(np.float32, copy=False).reshape(int(is_there.sum()), width)
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.linalg.norm(matrix, axis=1)
    is_tiny = length < _TINY
    exact = matrix[is_tiny].astype(np.float64)
    exact_length = np.linalg.norm(exact, axis=1, keepdims=True)
    matrix[is_tiny] = np.divide(exact, exact_length, out=exact, where=exact_length > 0)
    length[is_tiny] = exact_length[:, 0] > 0
    is_there &= np.isfinite(length) & (length > 0)
    matrix[~is_there] = 0
    np.divide(matrix, length[:, None], out=matrix, where=is_there[:, None])
    return matrix, is_there


def _width(array: Any, embedding_column: str) -> int:
    if pa.types.is_fixed_size_list(array.type):
        return int(array.type.list_size)
    lengths = np.unique(array.value_lengths().drop_null().to_numpy())
    if len(lengths) > 1:
        raise StageError(
            f"column {embedding_column!r} has embeddings of {len(lengths)} different lengths "
            f"({lengths[0]} to {lengths[-1]})",
            fix="embed all rows with the same model",
        )
    return int(lengths[0]) if len(lengths) else 0


def drawn(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float64]:
    """Return a random number from 0 to 1 for each vector, which depends on the vector and the seed alone.

    A choice by these numbers does not depend on the files of the rows or their order: the names of files of an earlier
    step depend on the folder that it read.
    """
    weights = np.random.Generator(np.random.PCG64(seed)).integers(1 << 63, size=vectors.shape[1], dtype=np.uint64)
    mixed = np.empty(len(vectors), np.uint64)
    for begin in range(0, len(vectors), _ROWS_AT_ONCE):  # numbers of 64 bits take twice the memory of the vectors
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        bits = np.ascontiguousarray(vectors[rows]).view(np.uint32).astype(np.uint64)
        mixed[rows] = (bits * (2 * weights + np.uint64(1))).sum(1, dtype=np.uint64)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    numbers: NDArray[np.float64] = (mixed >> np.uint64(11)) / float(1 << 53)
    return numbers
