"""Repeat or thin out rows by a weight for each value of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, ProcessingStage, TableBatch, report
from curator_table.stages.sample import fractions_of, hash_numbers, row_keys

if TYPE_CHECKING:
    from curator_core.sdk import Columns

__all__ = ["Resample", "copies_of"]

_SALT = 0x5E5A
"""Told apart from ``table.sample``, so that thinning out a sample with the same seed is a fresh draw."""


@dataclass
class Resample(ProcessingStage[TableBatch, TableBatch]):
    """Repeat each row as often as the weight of its bucket says; a fraction is a chance.

    A weight of 3 makes three rows of each, 0.2 keeps one in five, 1.5 makes one or two. Which rows is decided by a hash
    of the identity of each row, so it does not depend on batches, workers or the order of stages.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"id": [1, 2], "bucket": ["high", "low"]})
    >>> Resample(weights={"high": 3, "low": 0}, id_column="id").process(batch).data.to_pydict()
    {'id': [1, 1, 1], 'bucket': ['high', 'high', 'high'], 'copy': [0, 1, 2]}

    Args:
        weights: For each value of the column, the number of copies of a row.
        column: Column with the bucket.
        default: Weight of other values, and of null.
        seed: Another seed gives another, independent choice.
        copy_column: Column for the number of a copy, from 0.
        id_column: Column of numbers or text that identifies a row; its source file and place there unless given.
    """

    weights: dict[str, float]
    column: str = "bucket"
    default: float = 1.0
    seed: int = 0
    copy_column: str = "copy"
    id_column: str | None = None

    name = "table.resample"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.weights:
            raise ConfigError(f"{self.name}: no weights are given", fix="e.g. weights: {high: 3, low: 0.2}")
        if min(*self.weights.values(), self.default) < 0:
            raise ConfigError(f"{self.name}: a weight is negative", fix="0 drops all, 1 keeps all as they are")

    def inputs(self) -> Columns:
        identity = [SOURCE_COLUMN, ROW_COLUMN] if self.id_column is None else [self.id_column]
        return list(dict.fromkeys([self.column, *identity]))

    def outputs(self) -> Columns:
        return [self.copy_column]

    def process(self, task: TableBatch) -> TableBatch | None:
        values = task.series(self.column).cast(pl.String)
        weights = values.replace_strict(
            list(self.weights), list(self.weights.values()), default=self.default, return_dtype=pl.Float64
        )
        weights = weights.fill_null(self.default)
        keys = hash_numbers(row_keys(task, self.seed, self.id_column).fill_null(0) ^ _SALT, self.seed)
        copies = copies_of(weights, keys)
        dropped = int((copies == 0).sum())
        if dropped:
            report().drop("not_sampled", dropped)
        if dropped == len(copies):
            return None
        rows = np.repeat(np.arange(len(copies)), copies.to_numpy())
        first = np.repeat(np.cumsum(copies.to_numpy()) - copies.to_numpy(), copies.to_numpy())
        out = task.with_data(task.data.take(rows)) if len(rows) != len(copies) or dropped else task
        return out.with_column(self.copy_column, pl.Series(np.arange(len(rows)) - first, dtype=pl.Int64))


def copies_of(weights: pl.Series, keys: pl.Series) -> pl.Series:
    """Return the number of copies of each row: the whole part of its weight, and one more with the rest as chance.

    >>> copies_of(pl.Series([0.0, 2.0, 0.5]), pl.Series([0, 0, 2**62], dtype=pl.UInt64)).to_list()
    [0, 2, 1]
    """
    whole = weights.floor()
    more: pl.Series = (fractions_of(keys) < weights - whole).cast(pl.Int64)
    copies: pl.Series = whole.cast(pl.Int64) + more
    return copies
