"""The last pass: documents without the lines that were decided against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ProcessingStage, TableBatch, column_bytes, report
from curator_dedup.cache_files import load_array
from curator_dedup.lines.write_lines import Unit
from curator_dedup.numbering import DocumentNumbers, places_of

if TYPE_CHECKING:
    import polars as pl

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["NOTHING_LEFT", "RemoveLines"]

NOTHING_LEFT = "only_repeated_lines"
"""Reason of documents that are dropped because all their lines stand elsewhere."""


@dataclass
class RemoveLines(ProcessingStage[TableBatch, TableBatch]):
    """Remove lines from documents, and documents of which nothing is left.

    Args:
        path: Folder of the cache, with the decisions.
        numbering: File with the batches of the corpus.
        content_column: Column with text.
        unit: Lines or paragraphs.
    """

    path: str
    numbering: str
    content_column: str = "text"
    unit: Unit = field(default="line", kw_only=True)

    name = "dedup.remove_lines"
    row_wise: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.content_column, SOURCE_COLUMN, ROW_COLUMN]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        self._numbers = DocumentNumbers(self.numbering)
        self._documents = load_array(f"{self.path}/repeat-documents.npy")
        self._lines = load_array(f"{self.path}/repeat-lines.npy")

    def process(self, task: TableBatch) -> TableBatch | None:
        """Remove lines from the documents of a batch; None where nothing is left of it."""
        import polars as pl

        from curator_dedup.kernels.segments import split_segments, without_segments

        places, found = places_of(self._documents, self._numbers.of(task))
        if len(places) == 0:
            return task
        text = task.text(self.content_column)
        column = column_bytes(text.to_arrow())
        begins, ends, counts = split_segments(column.data, column.offsets, self.unit == "paragraph")
        is_removed = np.zeros(len(begins), bool)
        is_removed[(np.cumsum(counts) - counts)[places] + np.asarray(self._lines[found])] = True
        data, offsets = without_segments(column.data, column.offsets, begins, ends, counts, is_removed)
        changed = pa.LargeStringArray.from_buffers(column.num_values, pa.py_buffer(offsets), pa.py_buffer(data))
        result = task.with_column(self.content_column, _with_nulls(pl.Series(changed), text))
        is_empty = pl.Series(np.diff(offsets) == 0) & pl.Series(np.diff(column.offsets) > 0)
        if not is_empty.any():
            return result
        report().drop(NOTHING_LEFT, int(is_empty.sum()))
        kept = result.with_rows(~is_empty)
        return kept if kept.num_rows else None


def _with_nulls(changed: pl.Series, before: pl.Series) -> pl.Series:
    import polars as pl

    if not before.null_count():
        return changed
    return pl.select(pl.when(before.is_not_null()).then(changed)).to_series()
