"""Read several sources in parallel, in given proportions of the output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
import pyarrow as pa

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    ROW_COLUMN,
    SOURCE_COLUMN,
    CompositeStage,
    ConfigError,
    DataError,
    EmptyTask,
    FileGroupTask,
    ProcessingStage,
    TableBatch,
    concat_tables,
    report,
)
from curator_table.formats import format_named
from curator_table.list_tables import ListTables
from curator_table.stages.resample import copies_of
from curator_table.stages.sample import hash_numbers, row_keys
from curator_table.stages.shuffle import Shuffle
from curator_table.table_reader import READERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import Columns, FileSlice

__all__ = ["Blend", "BlendSource", "blend_rates"]

Until = Literal["first_exhausted", "all_exhausted"]
_SALT = 0xB1E7D


@dataclass(frozen=True)
class BlendSource:
    """One source of a blend.

    Args:
        paths: Files, folders, globs or URLs.
        weight: Its share of the blend, in proportion to the weights of the others.
        format: Format of the files: jsonl, parquet, csv or arrow.
    """

    paths: str | list[str]
    weight: float = 1.0
    format: Literal["jsonl", "parquet", "csv", "arrow"] = "jsonl"


@dataclass
class Blend(CompositeStage[EmptyTask, TableBatch]):
    """Read several sources in given proportions, mixed and shuffled.

    Proportions are of bytes in the files, so that sources should be compressed alike. With ``first_exhausted``, the
    source that is smallest for its weight is read whole and the others are thinned out to match; with
    ``all_exhausted``, the largest is read whole and rows of the others are repeated; with ``target_bytes``, both as
    needed. NeMo Curator's former ``blend_datasets`` did this by numbers of rows.

    Every unit of work takes its part of each source, so the mixture is the same from the first batch to the last, and a
    run can be stopped and resumed. Which rows are kept or repeated, and their order in the batch, depend on a hash of
    each row, not on who reads it. Rows are shuffled within units of ``block_bytes``.

    >>> sources = {"web": BlendSource("web/*.jsonl", weight=3), "books": BlendSource("books", format="parquet")}
    >>> [stage.name for stage in Blend(sources).decompose()]
    ['table.blend.files', 'table.blend']

    Args:
        sources: The sources, by name.
        until: When to stop.
        target_bytes: Read about this number of bytes of files in all, instead of stopping by ``until``.
        columns: Columns to read; all, where None. One that a source lacks is null.
        source_column: Column for the name of the source; None for none.
        copy_column: Column for the number of a repeated row, from 0; None for none.
        shuffle: Mix the rows of each batch; else they come source by source.
        seed: Another seed gives another choice and order.
        block_bytes: Size of a unit of work and of a table.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
    """

    sources: dict[str, BlendSource]
    until: Until = "first_exhausted"
    target_bytes: int | None = None
    columns: list[str] | None = field(default=None, kw_only=True)
    source_column: str | None = field(default="blend_source", kw_only=True)
    copy_column: str | None = field(default=None, kw_only=True)
    shuffle: bool = field(default=True, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)

    name = "table.blend"

    def __post_init__(self) -> None:
        if not self.sources or any(not each.weight > 0 for each in self.sources.values()):
            raise ConfigError(f"{self.name}: give at least one source, and weights above zero")
        if self.target_bytes is not None and self.target_bytes < 1:
            raise ConfigError(f"{self.name}: target_bytes must be positive, got {self.target_bytes}")

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and the reading stage; the latter bears this stage's name."""
        listing = self._listing()
        own = {"formats": {name: each.format for name, each in self.sources.items()}, "listing": listing}
        reader = _ReadBlend(**{**self.values_for(_ReadBlend), **own})
        return [listing, reader.with_(name=self.name)]

    def outputs(self) -> Columns:
        own = [each for each in self.columns or () if each not in (SOURCE_COLUMN, ROW_COLUMN)]
        added = [each for each in (self.source_column, self.copy_column) if each is not None]
        return [*own, SOURCE_COLUMN, ROW_COLUMN, *added]

    def preflight(self) -> Sequence[str] | None:
        """Check the paths, and find the columns in the first file of each source."""
        return self._listing().preflight()

    def _listing(self) -> _ListBlend:
        return _ListBlend(self).with_(name=f"{self.name}.files")


@dataclass
class _ListBlend(ProcessingStage[EmptyTask, FileGroupTask]):
    """List the files of all sources and deal them out, so that every unit of work has its part of each."""

    blend: Blend

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:
        pieces: dict[str, list[FileSlice]] = {}
        sizes = {}
        # Small pieces, so that they can be dealt out evenly.
        piece_bytes = max(1, self.blend.block_bytes // (4 * len(self.blend.sources)))
        for name, source in self.blend.sources.items():
            entries = self._files(name).files()
            plan = format_named(source.format).plan(entries, block_bytes=piece_bytes)
            pieces[name] = [piece for group in plan for piece in group]
            sizes[name] = sum(entry.size_bytes or 0 for entry in entries)
        weights = {name: source.weight for name, source in self.blend.sources.items()}
        rates = blend_rates(sizes, weights, until=self.blend.until, target_bytes=self.blend.target_bytes)
        total = sum(sizes[name] * rate for name, rate in rates.items())
        units = max(1, round(total / self.blend.block_bytes))
        for unit in range(units):
            dealt = {
                name: own[len(own) * unit // units : len(own) * (unit + 1) // units] for name, own in pieces.items()
            }
            chosen = [(name, piece) for name, own in dealt.items() for piece in own if rates[name] > 0]
            if chosen:
                meta = {"blend": [(name, rates[name]) for name, _ in chosen]}
                yield FileGroupTask(data=tuple(piece for _, piece in chosen), dataset_name=task.dataset_name, meta=meta)

    def preflight(self) -> Sequence[str] | None:
        found: dict[str, None] = {}
        for name in self.blend.sources:
            columns = self._files(name).preflight()
            if columns is None:
                return None
            found |= dict.fromkeys(columns)
        more = (self.blend.source_column, self.blend.copy_column)
        return [*found, *(each for each in more if each is not None)]

    def find_types(self) -> pa.Schema | None:
        """Return the types that the columns have in all sources together; None where no file can be read."""
        from curator_table.types.column_types import join_types

        found = (self._files(name).find_types() for name in self.blend.sources)
        return join_types(found, f"the sources of {self.blend.name} do not fit together")

    def _files(self, name: str) -> ListTables:
        source = self.blend.sources[name]
        links = self.blend.follow_links
        files = ListTables(source.paths, format=source.format, columns=self.blend.columns, follow_links=links)
        return files.with_(name=f"{self.blend.name}.files")


@dataclass
class _ReadBlend(ProcessingStage[FileGroupTask, TableBatch]):
    """Read a unit of work, thin out or repeat the rows of each source, and mix them."""

    formats: dict[str, str]
    columns: list[str] | None
    source_column: str | None
    copy_column: str | None
    shuffle: bool
    seed: int
    block_bytes: int
    listing: _ListBlend
    types: dict[str, str] | None = None

    thread_safe: ClassVar[bool] = True
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        self._schema: pa.Schema | None = None

    def preflight(self) -> Sequence[str] | None:
        self._schema = self.listing.find_types()
        self.types = None if self._schema is None else {each.name: str(each.type) for each in self._schema}
        return None

    def outputs(self) -> Columns:
        added = [each for each in (self.source_column, self.copy_column) if each is not None]
        return [*(self.columns or ()), SOURCE_COLUMN, ROW_COLUMN, *added]

    def process(self, task: FileGroupTask) -> TableBatch | None:
        pieces: dict[tuple[str, float], list[FileSlice]] = {}
        for (name, rate), piece in zip(task.meta["blend"], task.data, strict=True):
            pieces.setdefault((name, rate), []).append(piece)
        tables = []
        for (name, rate), own in pieces.items():
            reader = READERS[self.formats[name]]([], columns=self.columns, block_bytes=self.block_bytes)
            reader.run_schema = self._schema
            for batch in reader.process(FileGroupTask(data=tuple(own))):
                tables += self._drawn(batch, name, rate)
        if not tables:
            return None
        meta = {key: value for key, value in task.meta.items() if key != "blend"}
        blended = TableBatch(data=self._joined(tables), dataset_name=task.dataset_name, meta=meta)
        mixed = Shuffle(seed=self.seed).process(blended) if self.shuffle else blended
        assert isinstance(mixed, TableBatch)
        return mixed

    def _drawn(self, batch: TableBatch, name: str, rate: float) -> list[pa.Table]:
        keys = hash_numbers(row_keys(batch, self.seed) ^ _SALT, self.seed)
        copies = copies_of(pl.repeat(rate, batch.num_rows, eager=True, dtype=pl.Float64), keys).to_numpy()
        dropped = int((copies == 0).sum())
        if dropped:
            report().drop("not_sampled", dropped)
        rows = np.repeat(np.arange(len(copies)), copies)
        if not len(rows):
            return []
        drawn = batch.data.take(rows)
        if self.source_column is not None:
            names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int32)), pa.array([name]))
            drawn = drawn.append_column(self.source_column, names)
        if self.copy_column is not None:
            first = np.repeat(np.cumsum(copies) - copies, copies)
            drawn = drawn.append_column(self.copy_column, pa.array(np.arange(len(rows)) - first, pa.int64()))
        return [drawn]

    @staticmethod
    def _joined(tables: list[pa.Table]) -> pa.Table:
        try:
            return concat_tables([_plain(table) for table in tables])
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"table.blend: the sources do not fit together: {error}",
                fix="read columns that they have in common with columns: […], or convert one of them",
            ) from error


def _plain(table: pa.Table) -> pa.Table:
    """Decode dictionaries, which cannot be joined where they differ."""
    for position, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(position, table.column_names[position], column.cast(column.type.value_type))
    return table


def blend_rates(
    sizes: dict[str, int], weights: dict[str, float], *, until: Until, target_bytes: int | None = None
) -> dict[str, float]:
    """Return the average number of copies of a row of each source that gives sizes in proportion to the weights.

    >>> blend_rates({"a": 100, "b": 300}, {"a": 1, "b": 1}, until="first_exhausted")
    {'a': 1.0, 'b': 0.3333333333333333}
    >>> blend_rates({"a": 100, "b": 300}, {"a": 1, "b": 1}, until="all_exhausted")
    {'a': 3.0, 'b': 1.0}

    Args:
        sizes: Bytes of each source.
        weights: Weight of each source.
        until: When to stop.
        target_bytes: Total bytes instead.
    """
    wanted = {name: weight for name, weight in weights.items() if sizes[name]}
    if not wanted:
        return dict.fromkeys(sizes, 0.0)
    if target_bytes is not None:
        scale = target_bytes / sum(wanted.values())
    else:
        choose = min if until == "first_exhausted" else max
        scale = choose(sizes[name] / weight for name, weight in wanted.items())
    return {name: scale * wanted[name] / sizes[name] if name in wanted else 0.0 for name in sizes}
