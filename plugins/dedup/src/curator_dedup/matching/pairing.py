"""Pairs of documents that share a key. Plain functions of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PairRule", "equal_pairs", "pairs_with_a_key", "unique_pairs"]

PairRule = Literal["candidates", "equal", "near"]


def pairs_with_a_key(
    keys: NDArray[np.uint64],
    marks: NDArray[Any],
    documents: NDArray[np.int64],
    *,
    rule: PairRule = "candidates",
    max_distance: int = 0,
) -> NDArray[np.int64]:
    """Return pairs of documents that share a key, never all pairs of a large bucket; the smaller number first.

    Args:
        keys: One for every record.
        marks: Distinguish documents with the same key.
        documents: Whose key it is; sorted among those with the same key and mark.
        rule: Which documents of a key are paired: ``candidates`` those with different marks (see
            :func:`curator_dedup.kernels.edges.candidate_edges`), ``equal`` those with the same mark, ``near`` those
            whose marks differ in few bits; the distance is then a third column.
        max_distance: In how many bits, at most, with ``near``.
    """
    from curator_dedup.kernels.edges import candidate_edges, linked_edges, near_edges

    key, mark, document = _repeated_records(keys, marks, documents)
    pairs: NDArray[np.int64]
    if rule == "near":
        pairs = near_edges(key, mark, document, max_distance)
    else:
        pairs = (linked_edges if rule == "equal" else candidate_edges)(key, mark, document)
    return pairs


def _repeated_records(
    keys: NDArray[np.uint64], marks: NDArray[Any], documents: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[Any], NDArray[np.int64]]:
    """Return the records whose keys occur more than once, and a few others, sorted by key, mark and document."""
    from curator_dedup.kernels.edges import repeated
    from curator_dedup.kernels.sorting import chosen_records, gather_sorted, tagged_keys

    keys, marks, documents = chosen_records(repeated(keys), keys, marks, documents)
    # Numbers sort several times as fast as rows, so a key takes its place along in its lowest bits.
    bits = max(1, len(keys).bit_length())
    tagged = tagged_keys(keys, bits)
    tagged.sort()
    key, mark, document = gather_sorted(tagged, bits, keys, marks, documents)
    return key, mark, document


def equal_pairs(keys: NDArray[np.uint64], marks: NDArray[np.uint64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs of each document with the first one that has the same key and mark, without sorting anything.

    Args:
        keys: Half of a hash.
        marks: The other half.
        documents: Whose hash it is; sorted.
    """
    from curator_dedup.kernels.first_equal import first_equal

    firsts = np.arange(len(keys))
    first_equal(np.column_stack([keys, marks]), np.arange(len(keys)), firsts)
    repeats = np.flatnonzero(firsts != np.arange(len(keys)))
    return np.column_stack([documents[firsts[repeats]], documents[repeats]])


def unique_pairs(
    portions: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs, of which several portions may have the same, each once.

    >>> one, other = unique_pairs([(np.array([1, 1]), np.array([2, 2])), (np.array([1]), np.array([2]))])
    >>> one.tolist(), other.tolist()
    ([1], [2])
    """
    if not portions:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    frame = pl.concat([pl.DataFrame({"first": first, "second": second}) for first, second in portions]).unique()
    return frame["first"].to_numpy(), frame["second"].to_numpy()
