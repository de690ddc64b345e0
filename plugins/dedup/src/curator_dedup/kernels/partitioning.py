"""Records sorted into partitions by the highest bits of their keys, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import kernel

__all__ = ["into_partitions"]


@kernel
def into_partitions(keys: Any, marks: Any, documents: Any, bits: Any) -> Any:
    """Return the keys, marks and documents by partition, in the order they had, and how many each partition has.

    Args:
        keys: 64 bits each; the highest say which partition.
        marks: The mark of each key.
        documents: Likewise.
        bits: How many bits: two to this power partitions.
    """
    total = len(keys)
    shift = np.uint64(64 - bits)
    counts = np.zeros(1 << bits, np.int64)
    for index in range(total):
        counts[keys[index] >> shift if bits else np.uint64(0)] += 1
    ends = np.cumsum(counts) - counts
    sorted_keys = np.empty(total, keys.dtype)
    sorted_marks = np.empty(total, marks.dtype)
    sorted_documents = np.empty(total, documents.dtype)
    for index in range(total):
        partition = keys[index] >> shift if bits else np.uint64(0)
        position = ends[partition]
        ends[partition] = position + 1
        sorted_keys[position] = keys[index]
        sorted_marks[position] = marks[index]
        sorted_documents[position] = documents[index]
    return sorted_keys, sorted_marks, sorted_documents, counts
