"""Read files of tables: the stage that reads units of work, and the base of the readers that plugins offer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    ROW_COLUMN,
    SOURCE_COLUMN,
    CompositeStage,
    EmptyTask,
    Limits,
    PieceReader,
    TableBatch,
)
from curator_table.formats import format_named
from curator_table.list_tables import ListTables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import Columns, FileSlice, ProcessingStage

__all__ = ["ReadTable", "TableReader"]


@dataclass
class ReadTable(PieceReader):
    """Read units of work of a table format into tables of about ``batch_bytes``.

    Args:
        format: Table format.
        columns: Columns to read; all, where None. ``_source`` and ``_row`` always come along.
        batch_bytes: Size of a table.
        limits: Caps against hostile files.
        batch_type: Type of task to make.
        files: Stage that lists the files. With it, :meth:`preflight` finds one type for each column of all files;
            without, every file has its own.
        types: Types of the columns, as :meth:`preflight` found them: a run that is resumed must have found the same.
    """

    format: str
    columns: list[str] | None = field(default=None, kw_only=True)
    files: ListTables | None = field(default=None, kw_only=True)
    types: dict[str, str] | None = field(default=None, kw_only=True)

    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        format_named(self.format)
        self.run_schema: pa.Schema | None = None  # beside the constructor: it is found, not given

    def preflight(self) -> Sequence[str] | None:
        """Find the types of the columns, for all workers."""
        if self.files is not None:
            self.run_schema = self.files.find_types()
            self.types = None if self.run_schema is None else {each.name: str(each.type) for each in self.run_schema}
        return None

    def read_piece(self, piece: FileSlice) -> Iterator[pa.Table]:
        return self.read_columns(piece, self.columns)

    def read_columns(self, piece: FileSlice, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """Yield the tables of a file or of a piece of one, with the types of the run."""
        reader = format_named(self.format)
        options = {"batch_bytes": self.batch_bytes, "limits": self.limits, "types": self.run_schema}
        return reader.read(piece, columns=columns, **options)  # type: ignore[arg-type]

    def outputs(self) -> Columns:
        return _with_provenance_names(self.columns)


@dataclass
class TableReader(CompositeStage[EmptyTask, TableBatch]):
    """Base of stages that read a table format: lists and cuts the files, then reads the pieces.

    >>> @dataclass
    ... class ReadLines(TableReader):
    ...     format = "jsonl"
    >>> [stage.name for stage in ReadLines("data").decompose()]
    ['ReadLines.files', 'ReadLines']

    Args:
        paths: Files, folders, globs or URLs.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included, against records that each have keys of their own.
        verify: Check compressed files to their end before the first row comes out (see :class:`Decompressor`).
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    paths: str | list[str]
    columns: list[str] | None = field(default=None, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    verify: bool = field(default=True, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)

    format: ClassVar[str] = "jsonl"
    batch_type: ClassVar[type[TableBatch]] = TableBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and the reading stage; the latter bears this stage's name."""
        listing = self._listing()
        reader = ReadTable(
            self.format,
            files=listing,
            columns=self.columns,
            batch_bytes=self.block_bytes,
            limits=Limits(
                max_record_bytes=self.max_record_bytes,
                max_expansion=self.max_expansion,
                max_columns=self.max_columns,
                verify=self.verify,
            ),
            batch_type=self.batch_type,
        )
        return [listing, reader.with_(name=self.name)]

    def outputs(self) -> Columns:
        return _with_provenance_names(self.columns)

    def preflight(self) -> Sequence[str] | None:
        """Check the paths and find the columns, as :meth:`ListTables.preflight`."""
        return self._listing().preflight()

    def _listing(self) -> ListTables:
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


def _with_provenance_names(columns: Sequence[str] | None) -> list[str]:
    own = [name for name in columns or () if name not in (SOURCE_COLUMN, ROW_COLUMN)]
    return [*own, SOURCE_COLUMN, ROW_COLUMN]
