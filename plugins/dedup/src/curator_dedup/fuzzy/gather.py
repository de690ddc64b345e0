"""The second pass over the input: the texts of candidates, sorted into the parts that will compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import TableBatch
from curator_dedup.cache_files import PartWriter, load_array
from curator_dedup.matching.keyed_documents import text_values
from curator_dedup.numbering import DocumentNumbers, places_of
from curator_dedup.shuffle_file import write_shuffled

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["GatherCandidates"]


@dataclass
class GatherCandidates(PartWriter[TableBatch]):
    """Write the texts that are to be compared, those of each part together.

    Args:
        path: Folder of the cache; texts go to ``candidates`` in it.
        numbering: File with the batches of the corpus.
        content_column: Column with the text.
        parts: How many parts there are.
        start: Number of the corpus's first document, where another comes before it.
    """

    numbering: str
    content_column: str = "text"
    parts: int = 1
    start: int = 0

    name = "dedup.gather"
    folder = "candidates"

    def inputs(self) -> Columns:
        return [self.content_column]

    def setup(self, worker: WorkerInfo) -> None:
        super().setup(worker)
        self._numbers = DocumentNumbers(self.numbering, self.start)
        self._documents = load_array(f"{self.path}/wanted-documents.npy")
        self._parts = load_array(f"{self.path}/wanted-parts.npy")

    def write_part(self, task: TableBatch, path: str) -> dict[str, Any] | None:
        """Write the candidates of a batch; None where it has none."""
        numbers = self._numbers.of(task)
        places, found = places_of(self._documents, numbers)
        if len(found) == 0:
            return None
        texts = text_values(task, self.content_column).cast(pa.large_string()).take(pa.array(places))
        table = pa.table({"document": numbers[places], "text": texts})
        part = np.asarray(self._parts[found])
        size = write_shuffled(table, part, path, partitions=self.parts, metadata={})
        return {"rows": len(part), "bytes": size, "parts": np.unique(part).tolist()}
