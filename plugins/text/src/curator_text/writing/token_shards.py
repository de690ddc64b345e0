r"""The files that Megatron trains from: token ids one after the other (``.bin``), and where documents are (``.idx``).

The index, all numbers little-endian (``IndexedDataset`` of Megatron-LM, ``megatron/core/datasets``)::

    "MMIDIDX\0\0" | version 1 (8 bytes) | code of the type (1) | sequences n (8) | document edges n + 1 (8)
    | tokens of each sequence (n times int32) | first byte of each in the .bin (n times int64) | edges 0 … n (int64)
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import atomic_output

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["token_type", "write_shard"]

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
TYPE_CODES = {np.dtype(np.int32): 4, np.dtype(np.uint16): 8}
"""Codes of the types used here; Megatron also knows 1 uint8, 2 int8, 3 int16, 5 int64, 6 float64, 7 float32."""
MAX_UINT16_VOCABULARY = 65_500
"""Megatron's choice (``DType.optimal_dtype``): smaller vocabularies are stored in two bytes a token."""


def token_type(vocabulary_size: int | None) -> np.dtype[Any]:
    """Return the type that Megatron stores tokens of a vocabulary in.

    >>> token_type(50_257), token_type(128_256)
    (dtype('uint16'), dtype('int32'))
    """
    small = vocabulary_size is not None and vocabulary_size < MAX_UINT16_VOCABULARY
    return np.dtype(np.uint16 if small else np.int32)


def write_shard(stem: str, tokens: NDArray[Any], lengths: NDArray[Any]) -> dict[str, int]:
    """Write ``stem.bin`` and then ``stem.idx``; return their sizes by path.

    A reader opens the index, so a pair without one is as if it were not there: each file appears whole, the index last.

    Args:
        stem: Path of the files without extension.
        tokens: Ids of all documents, one after the other, in a type of :data:`TYPE_CODES`.
        lengths: Tokens of each document.
    """
    count = len(lengths)
    starts = np.zeros(count, dtype=np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    sizes = {}
    with atomic_output(f"{stem}.bin") as file:
        file.write(np.ascontiguousarray(tokens).astype(tokens.dtype.newbyteorder("<"), copy=False).data)
        sizes[f"{stem}.bin"] = file.tell()
    with atomic_output(f"{stem}.idx") as file:
        file.write(MAGIC)
        file.write(struct.pack("<QBQQ", VERSION, TYPE_CODES[tokens.dtype], count, count + 1))
        file.write(lengths.astype("<i4").tobytes())
        file.write((starts * tokens.dtype.itemsize).astype("<i8").tobytes())
        file.write(np.arange(count + 1, dtype="<i8").tobytes())
        sizes[f"{stem}.idx"] = file.tell()
    return sizes
