"""Give every row an id made of its origin, which never changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, ProcessingStage, StageError, TableBatch
from curator_table.stages.sample import hash_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.sdk import Columns

__all__ = ["AddId"]


@dataclass
class AddId(ProcessingStage[TableBatch, TableBatch]):
    """Add an id made of the file that a row was read from and its place there.

    The same file under the same name gives the same ids in every run, with any splitting and on any worker. NeMo
    Curator's ``AddId`` numbers the rows of a task instead, so its ids change with the size of batches.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"text": ["one", "two"], "_source": ["a.jsonl"] * 2, "_row": [0, 15]})
    >>> AddId(id_prefix="news").process(batch).data["id"].to_pylist()
    ['news-dece991d34a83df2-0', 'news-dece991d34a83df2-15']

    Args:
        id_column: Column for the ids.
        id_prefix: Text to begin every id with.
        columns: Columns that tell rows apart: whole numbers are written as they are, text as a hash of 16 digits.
            After ``text.split_documents``, add ``segment_id`` to them.
        overwrite: Replace an existing column of that name; otherwise it is an error.
    """

    id_column: str = "id"
    id_prefix: str | None = None
    columns: list[str] = field(default_factory=lambda: [SOURCE_COLUMN, ROW_COLUMN])
    overwrite: bool = False

    name = "table.add_id"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.columns:
            raise ConfigError(f"{self.name}: no columns to make an id of", fix="leave columns out, or name some")

    def inputs(self) -> Columns:
        return list(dict.fromkeys(self.columns))

    def outputs(self) -> Columns:
        return [self.id_column]

    def new_columns(self) -> Mapping[str, str]:
        return {} if self.overwrite else {"id_column": self.id_column}

    def process(self, task: TableBatch) -> TableBatch:
        self.check_new_columns(task.columns)
        parts = pl.DataFrame([self._part(task.series(name)).alias(str(at)) for at, name in enumerate(self.columns)])
        prefix = [pl.lit(self.id_prefix)] if self.id_prefix else []
        ids = parts.select(pl.concat_str(*prefix, pl.all(), separator="-").alias(self.id_column))
        return task.with_column(self.id_column, ids.to_series())

    def _part(self, values: pl.Series) -> pl.Series:
        if values.dtype.is_integer():
            numbers: pl.Series = values.cast(pl.String).fill_null("null")
            return numbers
        if values.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            raise StageError(f"{self.name}: column {values.name!r} holds {values.dtype}, not text or whole numbers")
        texts = values.cast(pl.String)
        distinct = texts.drop_nulls().unique()  # a batch has few files
        digests = pl.Series([f"{hash_text(each, 0):016x}" for each in distinct], dtype=pl.String)
        hashed: pl.Series = texts.replace_strict(distinct, digests, default="null", return_dtype=pl.String)
        return hashed
