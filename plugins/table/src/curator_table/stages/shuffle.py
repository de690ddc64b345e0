"""Bring rows into a random order that is the same in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, ProcessingStage, TableBatch
from curator_table.stages.sample import hash_numbers, row_keys

if TYPE_CHECKING:
    from curator_core.sdk import Columns

__all__ = ["Partition", "Shuffle"]

_SHUFFLE_SALT, _PARTITION_SALT = 0x5A0F, 0x9A27
"""Told apart from each other and from sampling, so that each is a fresh draw."""


@dataclass
class Shuffle(ProcessingStage[TableBatch, TableBatch]):
    """Shuffle the rows of each batch, by a hash of the identity of each row.

    Rows move within their batch only (``block_bytes`` of the reader): a pipeline never holds more. For an order that is
    random over the whole corpus, take two passes: ``table.partition`` gives each row a random number, by which
    ``table.route`` writes folders; a second pipeline reads those, each in one piece, and shuffles.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"id": [1, 2, 3, 4, 5, 6]})
    >>> Shuffle(id_column="id").process(batch).data["id"].to_pylist()
    [2, 1, 5, 3, 4, 6]

    Args:
        seed: Another seed gives another order.
        id_column: Column of numbers or text that identifies a row; its source file and place there unless given. Rows
            with the same identity, such as copies, stay in their order.
    """

    seed: int = 0
    id_column: str | None = None

    name = "table.shuffle"
    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return _identity(self.id_column)

    def process(self, task: TableBatch) -> TableBatch:
        keys = _keys(task, self.seed, self.id_column, _SHUFFLE_SALT)
        return task.with_data(task.data.take(np.argsort(keys.to_numpy(), kind="stable")))


@dataclass
class Partition(ProcessingStage[TableBatch, TableBatch]):
    """Give each row the number of a random partition, by a hash of its identity: the first pass of a shuffle.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"id": [1, 2, 3, 4, 5, 6]})
    >>> Partition(partitions=3, id_column="id").process(batch).data["partition"].to_pylist()
    [1, 1, 2, 0, 2, 1]

    Args:
        partitions: How many there are. So many that each fits into one batch of the second pass.
        column: Column for the number, from 0.
        seed: Another seed gives other partitions.
        id_column: Column of numbers or text that identifies a row; its source file and place there unless given.
    """

    partitions: int
    column: str = "partition"
    seed: int = 0
    id_column: str | None = None

    name = "table.partition"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.partitions < 1:
            raise ConfigError(f"{self.name}: partitions must be at least 1, got {self.partitions}")

    def inputs(self) -> Columns:
        return _identity(self.id_column)

    def outputs(self) -> Columns:
        return [self.column]

    def process(self, task: TableBatch) -> TableBatch:
        keys = _keys(task, self.seed, self.id_column, _PARTITION_SALT)
        return task.with_column(self.column, (keys % self.partitions).cast(pl.Int64))


def _identity(id_column: str | None) -> list[str]:
    return [SOURCE_COLUMN, ROW_COLUMN] if id_column is None else [id_column]


def _keys(task: TableBatch, seed: int, id_column: str | None, salt: int) -> pl.Series:
    return hash_numbers(row_keys(task, seed, id_column).fill_null(0) ^ salt, seed)
