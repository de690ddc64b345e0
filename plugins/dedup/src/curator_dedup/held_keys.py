"""Keys of a corpus, held in this process from the pass that makes them to the search for pairs.

Holding changes no result: where the keys of a batch are not there, as in another process, after a resume or because
there are too many, the files that they are also written to are read.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["KeyRecords", "hold_keys", "holding_keys", "taken_keys"]


@dataclass(frozen=True)
class KeyRecords:
    """The keys of a batch, by partition.

    Args:
        keys: 64 bits each.
        marks: Distinguish documents with the same key.
        documents: Whose key it is: its place in the batch.
        counts: How many of them each partition has.
    """

    keys: NDArray[np.uint64]
    marks: NDArray[Any]
    documents: NDArray[np.uint32]
    counts: NDArray[np.int64]

    @property
    def size_bytes(self) -> int:
        """Memory that they take."""
        return int(self.keys.nbytes + self.marks.nbytes + self.documents.nbytes)

    def partition(self, number: int) -> KeyRecords:
        """Return those of one partition."""
        begin = int(self.counts[:number].sum())
        span = slice(begin, begin + int(self.counts[number]))
        return KeyRecords(self.keys[span], self.marks[span], self.documents[span], self.counts[number : number + 1])


@dataclass
class _Store:
    max_bytes: int
    records: dict[str, KeyRecords] = field(default_factory=dict)
    size_bytes: int = 0
    turn: threading.Lock = field(default_factory=threading.Lock)

    def add(self, path: str, records: KeyRecords) -> None:
        with self.turn:
            self.size_bytes += records.size_bytes
            if self.size_bytes > self.max_bytes:
                self.records.clear()  # some are of no use: pairs are found among all
            else:
                self.records[path] = records


_STORES: dict[str, _Store] = {}


@contextmanager
def holding_keys(cache_path: str, max_bytes: int) -> Iterator[None]:
    """Hold the keys that stages of this process make for a cache, until they are taken or the block ends.

    Args:
        cache_path: Folder of the cache.
        max_bytes: With more than this, none are held.
    """
    _STORES[cache_path] = _Store(max_bytes)
    try:
        yield
    finally:
        del _STORES[cache_path]


def hold_keys(cache_path: str, path: str, records: KeyRecords) -> None:
    """Hold the keys of a batch, where they are to be held and fit.

    Args:
        cache_path: Folder of the cache.
        path: The file that has them, too.
        records: The keys.
    """
    store = _STORES.get(cache_path)
    if store is not None:
        store.add(path, records)


def taken_keys(cache_path: str, paths: Sequence[str]) -> list[KeyRecords] | None:
    """Return the keys of batches by their files, which are then held no more; None where any are not there."""
    store = _STORES.get(cache_path)
    if store is None or any(path not in store.records for path in paths):
        return None
    records = [store.records.pop(path) for path in paths]
    store.records.clear()
    return records
