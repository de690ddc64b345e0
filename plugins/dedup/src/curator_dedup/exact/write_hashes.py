"""The keys of exact deduplication: hashes of whole values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_core.sdk import column_bytes
from curator_dedup.content_hash import normalized
from curator_dedup.exact.hashing import hash_values
from curator_dedup.matching.keyed_documents import WriteKeys, content_values

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["WriteHashes"]


@dataclass
class WriteHashes(WriteKeys):
    """Write a 128-bit hash for every value; a null has none, so it is never a duplicate.

    Args:
        path: Folder of the cache.
        content_column: Column with text or bytes.
        id_column: Column with ids; file and position unless given.
        score_column: Column with numbers by which the document to keep is chosen.
        partitions: Into how many partitions keys are sorted.
        normalize: Compare text in lower case, with runs of whitespace as one space and none at the ends.
    """

    normalize: bool = field(default=False, kw_only=True)

    name = "dedup.write_hashes"

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return one key for every value: half of the hash is the key, the other half the mark."""
        if self.normalize:
            column = column_bytes(normalized(batch.text(self.content_column)).to_arrow())
        else:
            column = column_bytes(content_values(batch, self.content_column))
        hashes = hash_values(column)
        documents = np.arange(len(hashes), dtype=np.uint32)
        if column.is_null is not None:
            chosen = ~column.is_null
            hashes, documents = hashes[chosen], documents[chosen]
        columns = {"key": hashes[:, 0], "mark": hashes[:, 1], "document": documents}
        return pa.table({name: pa.array(np.ascontiguousarray(values)) for name, values in columns.items()})

    def metadata(self) -> dict[bytes, bytes]:
        """Return the settings that the hashes depend on."""
        return {b"curator.exact": b'{"version": 1, "normalize": %s}' % (b"true" if self.normalize else b"false")}
