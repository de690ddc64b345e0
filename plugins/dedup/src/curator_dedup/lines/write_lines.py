"""The keys of lines: a hash for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from curator_core.sdk import column_bytes
from curator_dedup.exact.hashing import hash_spans
from curator_dedup.matching.keyed_documents import WriteKeys

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Unit", "WriteLineHashes"]

Unit = Literal["line", "paragraph"]


@dataclass
class WriteLineHashes(WriteKeys):
    """Write a 128-bit hash for every line, or paragraph, that is long enough.

    Args:
        path: Folder of the cache.
        content_column: Column with text.
        id_column: None.
        score_column: None.
        partitions: Into how many partitions keys are sorted.
        unit: Lines or paragraphs.
        min_bytes: Shorter ones are left alone.
    """

    unit: Unit = field(default="line", kw_only=True)
    min_bytes: int = field(default=20, kw_only=True)

    name = "dedup.write_lines"

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return a key for every line: half of the hash is the key, the other half the mark."""
        from curator_dedup.kernels.segments import split_segments

        column = column_bytes(batch.text(self.content_column).to_arrow())
        begins, ends, counts = split_segments(column.data, column.offsets, self.unit == "paragraph")
        document = np.repeat(np.arange(column.num_values, dtype=np.uint32), counts)
        line = np.arange(len(begins)) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = np.flatnonzero(ends - begins >= self.min_bytes)
        hashes = hash_spans(column.data, begins[chosen], ends[chosen])
        columns: dict[str, Any] = {
            "key": np.ascontiguousarray(hashes[:, 0]),
            "mark": np.ascontiguousarray(hashes[:, 1]),
            "document": document[chosen],
            "line": line[chosen].astype(np.uint32),
        }
        return pa.table({name: pa.array(values) for name, values in columns.items()})

    def metadata(self) -> dict[bytes, bytes]:
        """Return the settings that the hashes depend on."""
        return {b"curator.lines": f"{self.unit} {self.min_bytes}".encode()}
