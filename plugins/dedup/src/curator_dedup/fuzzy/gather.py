"""The second pass over the input: the texts of candidates, sorted into the parts that will compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import FileGroupTask, FileSlice, ProcessingStage, TableBatch, make_folder, part_name, remove_parts
from curator_dedup.arrays import load_array, places_of
from curator_dedup.matching.keyed_documents import text_column
from curator_dedup.numbering import DocumentNumbers
from curator_dedup.shuffle_file import write_shuffled

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["GatherCandidates"]


@dataclass
class GatherCandidates(ProcessingStage[TableBatch, FileGroupTask]):
    """Write the texts that are to be compared, those of each part together.

    Args:
        path: Folder of the cache; texts go to ``candidates`` in it.
        numbering: File with the batches of the corpus.
        content_field: Column with the text.
        parts: How many parts there are.
        start: Number of the corpus's first document, where another comes before it.
    """

    path: str
    numbering: str
    content_field: str = "text"
    parts: int = 1
    start: int = 0

    name = "dedup.gather"
    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.content_field]

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        make_folder(f"{self.path}/candidates")

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        make_folder(f"{self.path}/candidates")
        self._numbers = DocumentNumbers(self.numbering, self.start)
        self._documents = load_array(f"{self.path}/wanted-documents.npy")
        self._parts = load_array(f"{self.path}/wanted-parts.npy")

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write the candidates of a batch; None where it has none."""
        numbers = self._numbers.of(task)
        places, found = places_of(self._documents, numbers)
        if len(found) == 0:
            return None
        texts = text_column(task, self.content_field).cast(pa.large_string()).take(pa.array(places))
        table = pa.table({"document": numbers[places], "text": texts})
        path = f"{self.path}/candidates/{part_name(task.task_id, '.parquet')}"
        part = np.asarray(self._parts[found])
        size = write_shuffled(table, part, path, partitions=self.parts, metadata={})
        meta = {"rows": len(part), "bytes": size, "parts": np.unique(part).tolist()}
        return FileGroupTask(data=(FileSlice(path),), task_id=task.task_id, meta=meta)

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the candidates of source tasks."""
        remove_parts(f"{self.path}/candidates", sources, only_torn=only_torn)
