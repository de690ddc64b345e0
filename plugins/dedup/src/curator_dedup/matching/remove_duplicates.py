"""The last pass: drop the documents to remove, or tag every document with its decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, Filter, ProcessingStage, TableBatch, Verdict
from curator_dedup.matching.decisions import read_clusters, read_kept_ids
from curator_dedup.numbering import DocumentNumbers, places_of

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["RemoveDuplicates", "TagDuplicates"]

DUPLICATE = "duplicate"
"""Reason of rows that are dropped."""


@dataclass
class RemoveDuplicates(Filter):
    """Drop the documents of which another is kept; the score is the number of documents in a row's cluster.

    Args:
        path: Folder of the cache, with the decisions.
        numbering: File with the batches of the corpus.
        start: Number of the corpus's first document, where another comes before it.
    """

    path: str
    numbering: str
    start: int = field(default=0, kw_only=True)

    name = "dedup.remove_duplicates"

    def inputs(self) -> Columns:
        return [SOURCE_COLUMN, ROW_COLUMN]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        self._numbers = DocumentNumbers(self.numbering, self.start)
        self._clusters = read_clusters(self.path)

    def judge(self, batch: TableBatch) -> Verdict:
        clusters = self._clusters
        numbers = self._numbers.of(batch)
        places, found = places_of(clusters.members, numbers)
        sizes = np.ones(batch.num_rows, np.int64)
        sizes[places] = clusters.sizes[found]
        is_dropped = np.zeros(batch.num_rows, bool)
        is_dropped[places] = clusters.kept[found] != numbers[places]
        return Verdict(pl.Series(sizes), {DUPLICATE: pl.Series(is_dropped)})


@dataclass
class TagDuplicates(ProcessingStage[TableBatch, TableBatch]):
    """Tag every document with its decision.

    Adds ``duplicate_of``, the id of the document kept in a row's place, null where that is the row itself, and
    ``duplicate_count``, how many documents the row's cluster has: one for a document without duplicates.

    Args:
        path: Folder of the cache, with the decisions.
        numbering: File with the batches of the corpus.
        start: Number of the corpus's first document, where another comes before it.
    """

    path: str
    numbering: str
    start: int = field(default=0, kw_only=True)

    name = "dedup.tag_duplicates"
    row_wise: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [SOURCE_COLUMN, ROW_COLUMN]

    def outputs(self) -> Columns:
        return ["duplicate_of", "duplicate_count"]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        self._numbers = DocumentNumbers(self.numbering, self.start)
        self._clusters = read_clusters(self.path)
        self._removed = self._clusters.removed
        self._kept_ids = read_kept_ids(self.path)

    def process(self, task: TableBatch) -> TableBatch:
        """Tag the rows of a batch."""
        numbers = self._numbers.of(task)
        places, found = places_of(self._clusters.members, numbers)
        sizes = np.ones(task.num_rows, np.int64)
        sizes[places] = self._clusters.sizes[found]
        places, found = places_of(self._removed, numbers)
        positions = np.full(task.num_rows, -1, np.int64)
        positions[places] = found
        kept_ids = self._kept_ids.take(pa.array(positions, mask=positions < 0))
        return task.with_column("duplicate_of", kept_ids).with_column("duplicate_count", sizes)
