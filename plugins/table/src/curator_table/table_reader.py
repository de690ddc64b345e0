"""Read files of tables: JSON lines, Parquet, CSV and Arrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from curator_core.sdk import FileReader, Limits
from curator_table.formats import format_named
from curator_table.list_tables import ListTables, with_provenance_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import Columns, FileSlice, ListFiles

__all__ = ["READERS", "ReadArrow", "ReadCsv", "ReadJsonl", "ReadParquet", "TableReader"]


@dataclass
class TableReader(FileReader):
    """Base of stages that read a table format: large files are cut, and every column has one type in the whole run.

    >>> @dataclass
    ... class ReadRecipes(TableReader):
    ...     format = "jsonl"
    >>> [stage.name for stage in ReadRecipes("data").decompose()]
    ['ReadRecipes.files', 'ReadRecipes']

    Args:
        columns: Columns to read; all, where None. ``_source`` and ``_row`` always come along.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Maximum number of columns of a table, nested fields included, against records that each have keys
            of their own.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)

    format = "jsonl"
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        format_named(self.format)
        self.run_schema: pa.Schema | None = None  # beside the constructor: it is found, not given

    def listing(self) -> ListFiles:
        listing = ListTables(
            self.paths,
            format=self.format,
            block_bytes=self.block_bytes,
            limit_files=self.limit_files,
            follow_links=self.follow_links,
            columns=self.columns,
            schema=self.schema,
            max_columns=self.max_columns,
        )
        return listing.with_(name=f"{self.name}.files")

    def outputs(self) -> Columns:
        return with_provenance_names(self.columns or ())

    def preflight(self) -> Sequence[str] | None:
        """Check the paths and find the columns; in a plan, find their types, for all workers."""
        if self._listing is None:
            return self.listing().preflight()
        self.use_types(self.find_types())
        return None

    def find_types(self) -> pa.Schema | None:
        """Return the types of the columns as a look at the files finds them."""
        return cast("ListTables", self._listing or self.listing()).find_types()

    def use_types(self, types: pa.Schema | None) -> None:
        """Read columns as these types; a run that is resumed must have found the same."""
        self.run_schema = types
        self.schema = None if types is None else {each.name: str(each.type) for each in types}

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        return self.read_columns(piece, self.columns)

    def read_columns(self, piece: FileSlice, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """Yield the tables of a file or of a slice of one, with the types of the run."""
        return format_named(self.format_of(piece)).read(
            piece, columns=columns, batch_bytes=self.block_bytes, limits=self.limits, types=self.run_schema
        )

    def format_of(self, piece: FileSlice) -> str:  # noqa: ARG002 - the same for all files here
        """Return the format of a file."""
        return self.format


@dataclass
class ReadJsonl(TableReader):
    """Read JSON Lines files, plain or compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).

    Large plain files are cut into slices. A bad line is quarantined with its file and byte offset, and the rest of the
    file comes through.

    >>> [stage.name for stage in ReadJsonl("corpus/*.jsonl.zst").decompose()]
    ['table.read_jsonl.files', 'table.read_jsonl']

    Args:
        max_record_bytes: A longer line is quarantined.
        verify: Check compressed files to their end before the first row comes out (see :class:`Decompressor`).
    """

    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "table.read_jsonl"


@dataclass
class ReadParquet(TableReader):
    """Read Parquet files, cut by row group; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadParquet("corpus", columns=["url"]).decompose()]
    ['table.read_parquet.files', 'table.read_parquet']
    """

    name = "table.read_parquet"
    format = "parquet"


@dataclass
class ReadCsv(TableReader):
    """Read CSV files with a header line, plain or compressed. Every column comes as text.

    >>> [stage.name for stage in ReadCsv("corpus/*.csv").decompose()]
    ['table.read_csv.files', 'table.read_csv']

    Args:
        max_record_bytes: A longer record is quarantined.
        verify: Check compressed files to their end before the first row comes out (see :class:`Decompressor`).
    """

    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "table.read_csv"
    format = "csv"


@dataclass
class ReadArrow(TableReader):
    """Read Arrow IPC files and streams; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadArrow("corpus/*.arrow").decompose()]
    ['table.read_arrow.files', 'table.read_arrow']
    """

    name = "table.read_arrow"
    format = "arrow"


READERS: dict[str, type[TableReader]] = {each.format: each for each in (ReadJsonl, ReadParquet, ReadCsv, ReadArrow)}
"""The reader of each format, by its name."""
