"""Pairs of documents that share a key, out of keys that are in memory: partitions are searched in parallel threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_dedup.matching.pairing import equal_pairs, pairs_with_a_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_dedup.held_keys import KeyRecords
    from curator_dedup.matching.pairing import PairRule

__all__ = ["joined_records", "pairs_in_memory"]


def pairs_in_memory(
    batches: Sequence[tuple[int, KeyRecords]], *, rule: PairRule, max_distance: int, threads: int
) -> NDArray[np.int64]:
    """Return the pairs of all partitions, one a row: those that :class:`FindPairs` finds in files.

    Equal documents are all paired with the first of them, instead of one with the next: the clusters are the same.

    Args:
        batches: The number of the first document of each batch, in order, and the batch's keys.
        rule: Which documents of a key are paired.
        max_distance: In how many bits their marks may differ, with ``near``.
        threads: How many partitions are searched in parallel.
    """

    def search(partition: int) -> NDArray[np.int64]:
        keys, marks, documents = joined_records([(first, each.partition(partition)) for first, each in batches])
        if rule == "equal":
            return equal_pairs(keys, marks, documents)
        return pairs_with_a_key(keys, marks, documents, rule=rule, max_distance=max_distance)

    partitions = len(batches[0][1].counts) if batches else 0
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(search, range(partitions)))
    return np.concatenate(found) if found else np.empty((0, 3), np.int64)


def joined_records(
    batches: Sequence[tuple[int, KeyRecords]],
) -> tuple[NDArray[np.uint64], NDArray[Any], NDArray[np.int64]]:
    """Return the keys, the marks and the documents of several batches, numbered through.

    Args:
        batches: The number of the first document of each, and its keys.
    """
    return (
        np.concatenate([each.keys for _, each in batches]),
        np.concatenate([each.marks for _, each in batches]),
        np.concatenate([each.documents + np.int64(first) for first, each in batches]),
    )
