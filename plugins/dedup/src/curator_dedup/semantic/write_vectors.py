"""The first pass: properties of each row, and a sample of the vectors to find clusters in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_dedup.matching.keyed_documents import WriteKeys
from curator_dedup.semantic.vectors import drawn, unit_vectors

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["WriteSample"]


@dataclass
class WriteSample(WriteKeys):
    """Write a random sample of the vectors of each batch.

    Args:
        path: Folder of the cache.
        content_column: Column with embeddings.
        id_column: Column with ids; file and place unless given.
        score_column: Column with numbers by which the row to keep is chosen.
        partitions: One.
        fraction: Fraction of the vectors that is taken.
        seed: Start of the random numbers.
    """

    fraction: float = field(default=1.0, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    name = "dedup.write_sample"

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return sampled vectors instead of keys."""
        vectors, is_there = unit_vectors(batch, self.content_column)
        chosen = np.flatnonzero(is_there & (drawn(vectors, self.seed) < self.fraction))
        width = vectors.shape[1]
        values = pa.array(vectors[chosen].reshape(-1))
        columns: dict[str, Any] = {
            "key": pa.array(np.zeros(len(chosen), np.uint64)),
            "vector": pa.FixedSizeListArray.from_arrays(values, max(1, width)),
        }
        return pa.table(columns)

    def sizes_of(self, batch: TableBatch) -> Any:
        """Return zeros: a vector is as long as any other."""
        return pa.array(np.zeros(batch.num_rows, np.int64))

    def metadata(self) -> dict[bytes, bytes]:
        """Return nothing: a sample is compared with nothing."""
        return {}
