"""Keep a fraction of the rows, chosen by the identity of each row, not by the place of its processing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, Filter, StageError, Verdict

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["Sample", "fractions_of", "hash_numbers", "hash_text", "row_keys"]

_KEY_SPACE = 2.0**64


@dataclass
class Sample(Filter):
    """Keep a fraction of the rows.

    A row is chosen by a hash of its identity, so the same rows are kept for any batches, workers or order of
    stages, and a sample of 10 % holds every row of the sample of 1 % with the same seed.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"id": list(range(1000))})
    >>> Sample(fraction=0.1, id_column="id").process(batch).num_rows
    101

    Args:
        fraction: Fraction of the rows to keep, from 0 to 1.
        seed: Another seed gives another, independent sample.
        id_column: Column of numbers or text that identifies a row. Unless given, a row is its source file and its
            place in it; then moving the input to another path gives another sample.
    """

    fraction: float
    seed: int = 0
    id_column: str | None = None

    name = "table.sample"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.fraction <= 1:
            raise ConfigError(
                f"table.sample: fraction must be between 0 and 1, got {self.fraction}", fix="write 25 % as 0.25"
            )

    def inputs(self) -> Columns:
        return [SOURCE_COLUMN, ROW_COLUMN] if self.id_column is None else [self.id_column]

    def judge(self, batch: TableBatch) -> Verdict:
        position = fractions_of(row_keys(batch, self.seed, self.id_column))
        return Verdict(position, {"not_sampled": position >= self.fraction})


def row_keys(batch: TableBatch, seed: int, id_column: str | None = None) -> pl.Series:
    """Return a 64-bit number for every row that depends only on the identity of the row and on the seed.

    Args:
        batch: The rows.
        seed: Another seed gives other, independent numbers.
        id_column: Column that identifies a row; its source file and place there unless given.
    """
    if id_column is not None:
        return _hash_column(batch.series(id_column), seed)
    sources = _hash_column(batch.series(SOURCE_COLUMN), seed)
    return hash_numbers(sources ^ hash_numbers(batch.series(ROW_COLUMN), seed), seed)


def fractions_of(keys: pl.Series) -> pl.Series:
    """Return each 64-bit number as a fraction of all there are, from 0 to 1."""
    fractions: pl.Series = keys.cast(pl.Float64) / _KEY_SPACE
    return fractions


def hash_numbers(numbers: pl.Series, seed: int) -> pl.Series:
    """Scatter whole numbers over 64 bits: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).

    Polars has a hash of its own, but its values change between versions.
    """
    if numbers.dtype != pl.UInt64:
        numbers = numbers.cast(pl.Int64).reinterpret(signed=False)
    golden = 0x9E3779B97F4A7C15
    mixed = numbers + _u64((seed + 1) * golden)
    mixed = (mixed ^ (mixed // _u64(1 << 30))) * _u64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed // _u64(1 << 27))) * _u64(0x94D049BB133111EB)
    scattered: pl.Series = mixed ^ (mixed // _u64(1 << 31))
    return scattered


def hash_text(text: str, seed: int) -> int:
    """Return a 64-bit number for a text; the same on every machine and in every version.

    >>> hash_text("a", 0) == hash_text("a", 0) != hash_text("a", 1)
    True
    """
    salt = (seed % (1 << 64)).to_bytes(8, "little")
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest()
    return int.from_bytes(digest, "little")


def _hash_column(values: pl.Series, seed: int) -> pl.Series:
    if values.dtype.is_integer():
        return hash_numbers(values, seed)
    if values.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        raise StageError(f"column {values.name!r} holds {values.dtype}, not text or whole numbers")
    # Each distinct text once: a batch has few source files.
    texts = values.cast(pl.String)
    distinct = texts.drop_nulls().unique()
    hashes = pl.Series([hash_text(each, seed) for each in distinct], dtype=pl.UInt64)
    hashed: pl.Series = texts.replace_strict(distinct, hashes, default=None, return_dtype=pl.UInt64)
    return hashed


def _u64(number: int) -> pl.Series:
    return pl.Series([number % (1 << 64)], dtype=pl.UInt64)
