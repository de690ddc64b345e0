"""Cut documents into segments, each a row of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl
import pyarrow as pa

from curator_core.sdk import ConfigError, ProcessingStage, TableBatch
from curator_text.modifiers.text_column import with_text

if TYPE_CHECKING:
    from curator_core.sdk import Columns

__all__ = ["SplitDocuments", "repeat_rows"]


@dataclass
class SplitDocuments(ProcessingStage[TableBatch, TableBatch]):
    r"""Cut documents at a separator; every segment becomes a row with its number, the other columns are repeated.

    This is NeMo Curator's ``DocumentSplitter``; ``text.join_documents`` puts the segments together again. The segments
    of a document stay in one batch, in order. A null text is one null segment.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"id": [7, 8], "text": ["Hello\n\nWorld", "Alone"]})
    >>> SplitDocuments().process(batch).data.to_pydict()
    {'id': [7, 7, 8], 'text': ['Hello', 'World', 'Alone'], 'segment_id': [0, 1, 0]}

    Args:
        separator: What stands between segments; it is not part of them.
        text_field: Column with the text.
        segment_id_field: Column for the number of a segment in its document, from 0.
    """

    separator: str = "\n\n"
    text_field: str = "text"
    segment_id_field: str = "segment_id"

    name = "text.split_documents"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.separator:
            raise ConfigError(f"{self.name}: the separator is empty", fix=r'e.g. separator: "\n\n"')

    def inputs(self) -> Columns:
        return [self.text_field]

    def outputs(self) -> Columns:
        return [self.segment_id_field]

    def process(self, task: TableBatch) -> TableBatch:
        texts = task.text(self.text_field)
        rows = pl.int_range(len(texts), eager=True, dtype=pl.Int64).alias("row")
        segments = pl.DataFrame([rows, texts.str.split(self.separator).alias("text")]).explode("text")
        segments = segments.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("row").alias("number"))
        out = repeat_rows(task, segments["row"], self.text_field)
        return with_text(out, self.text_field, segments["text"]).with_column(self.segment_id_field, segments["number"])


def repeat_rows(batch: TableBatch, rows: pl.Series, text_field: str) -> TableBatch:
    """Return rows of a batch by their numbers, but for the text column, which is null: its texts are not copied."""
    position = batch.data.schema.get_field_index(text_field)
    field = batch.data.schema.field(position)
    without = batch.data.set_column(position, field, pa.nulls(batch.num_rows, field.type))
    return batch.with_data(without.take(rows.to_arrow()))
