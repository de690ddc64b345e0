"""Read files of tables: the stage that reads units of work, and the base of the readers that plugins offer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.io.formats import format_named
from curator_core.io.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.io.list_stage import ListFiles
from curator_core.io.piece_reader import PieceReader
from curator_core.stage import CompositeStage
from curator_core.tasks import ROW_COLUMN, SOURCE_COLUMN, EmptyTask, TableBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.stage import Columns, ProcessingStage
    from curator_core.tasks import FileSlice

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
    """

    format: str
    columns: list[str] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        format_named(self.format)

    def read_piece(self, piece: FileSlice) -> Iterator[pa.Table]:
        reader = format_named(self.format)
        return reader.read(piece, columns=self.columns, batch_bytes=self.batch_bytes, limits=self.limits)

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

    format: ClassVar[str] = "jsonl"
    batch_type: ClassVar[type[TableBatch]] = TableBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and the reading stage; the latter bears this stage's name."""
        reader = ReadTable(
            self.format,
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
        return [self._listing(), reader.with_(name=self.name)]

    def outputs(self) -> Columns:
        return _with_provenance_names(self.columns)

    def preflight(self) -> Sequence[str] | None:
        """Check the paths and find the columns, as :meth:`ListFiles.preflight`."""
        return self._listing().preflight()

    def _listing(self) -> ListFiles:
        listing = ListFiles(
            self.paths,
            format=self.format,
            block_bytes=self.block_bytes,
            limit_files=self.limit_files,
            follow_links=self.follow_links,
            columns=self.columns,
        )
        return listing.with_(name=f"{self.name}.files")


def _with_provenance_names(columns: Sequence[str] | None) -> list[str]:
    own = [name for name in columns or () if name not in (SOURCE_COLUMN, ROW_COLUMN)]
    return [*own, SOURCE_COLUMN, ROW_COLUMN]
