"""Cut documents into segments, each a row of its own, and put segments together again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl
import pyarrow as pa

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, ProcessingStage, TableBatch
from curator_text.checks import check_positive
from curator_text.modifiers.text_modifier import with_text

if TYPE_CHECKING:
    from curator_core.sdk import Columns

__all__ = ["JoinDocuments", "SplitDocuments", "repeat_rows"]


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
        separator: Text between segments; it is not part of them.
        text_column: Column with the text.
        segment_id_column: Column for the number of a segment in its document, from 0.
    """

    separator: str = "\n\n"
    text_column: str = "text"
    segment_id_column: str = "segment_id"

    name = "text.split_documents"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.separator:
            raise ConfigError(f"{self.name}: separator must not be empty", fix=r'e.g. separator: "\n\n"')

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.segment_id_column]

    def process(self, task: TableBatch) -> TableBatch:
        texts = task.text(self.text_column)
        rows = pl.int_range(len(texts), eager=True, dtype=pl.Int64).alias("row")
        segments = pl.DataFrame([rows, texts.str.split(self.separator).alias("text")]).explode("text")
        segments = segments.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("row").alias("number"))
        out = repeat_rows(task, segments["row"], self.text_column)
        pieces = with_text(out, self.text_column, segments["text"])
        return pieces.with_column(self.segment_id_column, segments["number"])


@dataclass
class JoinDocuments(ProcessingStage[TableBatch, TableBatch]):
    r"""Join the segments of each document, in the order of their numbers; other columns are those of the first one.

    This is NeMo Curator's ``DocumentJoiner``, the inverse of ``text.split_documents``. Documents come out in the order
    of their first segments; segments that a filter has dropped are missing, null ones are left out, and a document of
    nulls is null.

    Only segments in one batch are joined. Behind ``text.split_documents`` in the same pipeline they always are, because
    stages between the two keep a batch together. Segments that were written to files and read again are, as long as no
    file is cut: read them with ``block_bytes`` larger than the largest file.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"id": [7, 8, 7], "text": ["World", "Alone", "Hello"], "segment_id": [1, 0, 0]})
    >>> JoinDocuments(document_id_column="id").process(batch).data.to_pydict()
    {'id': [7, 8], 'text': ['Hello\n\nWorld', 'Alone']}

    Args:
        separator: Text to put between segments.
        text_column: Column with the text.
        segment_id_column: Column with the number of a segment in its document.
        document_id_column: Column that is the same for the segments of a document. Unless given, a document is its
            place in its file (``_source`` and ``_row``).
        drop_segment_id_column: Remove the column of numbers; else it holds the number of the joined part.
        max_length: Maximum number of characters of a joined text: a document that is longer comes out as several rows,
            each as long as whole segments allow. A single segment may be longer.
        length_column: Column with the lengths to add up instead of characters, such as tokens; it comes out as the
            length of the joined text, with the separator counted in characters.
    """

    separator: str = "\n\n"
    text_column: str = "text"
    segment_id_column: str = "segment_id"
    document_id_column: str | None = None
    drop_segment_id_column: bool = True
    max_length: int | None = None
    length_column: str | None = None

    name = "text.join_documents"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.length_column is not None and self.max_length is None:
            raise ConfigError(f"{self.name}: length_column needs max_length", fix="e.g. max_length: 2000")
        if self.max_length is not None:
            check_positive(self.name, max_length=self.max_length)

    def inputs(self) -> Columns:
        more = [] if self.length_column is None else [self.length_column]
        return [self.text_column, self.segment_id_column, *self._identity(), *more]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        return columns - {self.segment_id_column} if self.drop_segment_id_column else columns

    def process(self, task: TableBatch) -> TableBatch | None:
        """Join the segments of a batch."""
        if not task.num_rows:
            return None
        segments = self._in_order(task)
        parts = segments.group_by("document", "part", maintain_order=True).agg(
            pl.col("row").first(),
            pl.when(pl.col("text").is_not_null().any()).then(pl.col("text").str.join(self.separator)),
            (pl.col("length").sum() + (pl.col("text").count().cast(pl.Int64) - 1).clip(0) * len(self.separator)),
        )
        out = with_text(repeat_rows(task, parts["row"], self.text_column), self.text_column, parts["text"])
        if self.length_column is not None:
            out = out.with_column(self.length_column, parts["length"])
        if self.drop_segment_id_column:
            return out.with_data(out.data.drop_columns([self.segment_id_column]))
        return out.with_column(self.segment_id_column, parts["part"])

    def _identity(self) -> list[str]:
        return [SOURCE_COLUMN, ROW_COLUMN] if self.document_id_column is None else [self.document_id_column]

    def _in_order(self, task: TableBatch) -> pl.DataFrame:
        """Return the segments sorted into documents, with the number of the joined part that each belongs to."""
        texts = task.text(self.text_column)
        length = texts.str.len_chars() if self.length_column is None else task.series(self.length_column)
        segments = pl.DataFrame(
            [
                pl.int_range(task.num_rows, eager=True, dtype=pl.Int64).alias("row"),
                texts.alias("text"),
                task.series(self.segment_id_column).alias("segment"),
                length.cast(pl.Int64).alias("length"),
                *(task.series(name).alias(f"id {name}") for name in self._identity()),
            ]
        )
        # A row without an identity is a document of its own.
        keys = [f"id {name}" for name in self._identity()]
        alone = pl.when(pl.any_horizontal(pl.col(keys).is_null())).then(pl.col("row"))
        segments = segments.with_columns(pl.col("row").first().over([*keys, alone]).alias("document"))
        segments = segments.sort("document", "segment", maintain_order=True, nulls_last=True)
        return segments.with_columns(self._parts(segments))

    def _parts(self, segments: pl.DataFrame) -> pl.Series:
        if self.max_length is None:
            return pl.repeat(0, segments.height, eager=True, dtype=pl.Int64).alias("part")
        parts = []
        document, part, total = None, 0, 0
        for owner, length in segments.select("document", pl.col("length").fill_null(0)).iter_rows():
            if owner != document:
                document, part, total = owner, 0, length
            elif total + len(self.separator) + length > self.max_length:
                part, total = part + 1, length
            else:
                total += len(self.separator) + length
            parts.append(part)
        return pl.Series("part", parts, dtype=pl.Int64)


def repeat_rows(batch: TableBatch, rows: pl.Series, text_column: str) -> TableBatch:
    """Return rows of a batch by their numbers, but for the text column, which is null: its texts are not copied."""
    position = batch.data.schema.get_field_index(text_column)
    field = batch.data.schema.field(position)
    without = batch.data.set_column(position, field, pa.nulls(batch.num_rows, field.type))
    return batch.with_data(without.take(rows.to_arrow()))
