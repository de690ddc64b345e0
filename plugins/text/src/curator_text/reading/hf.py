"""Read Hugging Face datasets from disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    ROW_COLUMN,
    SOURCE_COLUMN,
    CompositeStage,
    EmptyTask,
    FileGroupTask,
    Limits,
    PieceReader,
    ProcessingStage,
    Recording,
    TableBatch,
)
from curator_table import format_named
from curator_text.batch import DocumentBatch
from curator_text.reading.hf_layout import chosen_files, format_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import Columns, FileEntry, FileSlice

__all__ = ["ListHfFiles", "ReadHf", "ReadHfPieces"]


@dataclass
class ListHfFiles(ProcessingStage[EmptyTask, FileGroupTask]):
    """List the files of a dataset and cut them into units of work; the first half of :class:`ReadHf`.

    Args:
        path: Folder of the dataset.
        split: Splits to read.
        block_bytes: Size of a unit of work.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        columns: Columns that will be read.
        limits: Caps against hostile files.
    """

    path: str
    split: str | list[str] | None = field(default=None, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:
        """Yield the units of work, in the order of the splits and files."""
        for name, entries in groupby(self._files(), key=lambda entry: format_of(entry.path) or ""):
            for pieces in format_named(name).plan(entries, block_bytes=self.block_bytes):
                yield FileGroupTask(data=pieces, dataset_name=task.dataset_name)

    def preflight(self) -> Sequence[str] | None:
        """Check that the dataset is there, and find its columns in the first file."""
        types = self.find_types()
        names = self.columns if self.columns is not None or types is None else types.names
        return None if names is None else _with_provenance(names)

    def find_types(self) -> pa.Schema | None:
        """Return the types of the columns as a look at the files finds them; None where no file can be read.

        Raises:
            ConfigError: They do not go together.
        """
        from curator_table import find_types, join_types

        with Recording().active():  # the run itself reports what must not be read
            files = self._files()
        groups: dict[str, list[FileEntry]] = {}
        for entry in files:
            groups.setdefault(format_of(entry.path) or "", []).append(entry)
        found = (find_types(own, name, limits=self.limits, columns=self.columns) for name, own in groups.items())
        return join_types(found, self.path)

    def _files(self) -> list[FileEntry]:
        files = chosen_files(self.path, self.split, follow_links=self.follow_links)
        return [entry for entry in files if format_of(entry.path) is not None][: self.limit_files]


@dataclass
class ReadHfPieces(PieceReader):
    """Read files of a dataset, each in its own format; the second half of :class:`ReadHf`.

    Args:
        columns: Columns to read; all, where None.
        batch_bytes: Size of a table.
        limits: Caps against hostile files.
        batch_type: Type of task to make.
        files: Stage that lists the files, for the types of the columns.
        types: Types of the columns, as :meth:`preflight` found them: a run that is resumed must have found the same.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    files: ListHfFiles | None = field(default=None, kw_only=True)
    types: dict[str, str] | None = field(default=None, kw_only=True)

    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        self._schema: pa.Schema | None = None

    def outputs(self) -> Columns:
        return _with_provenance(self.columns or ())

    def preflight(self) -> Sequence[str] | None:
        """Find the types of the columns, for all workers."""
        if self.files is not None:
            self._schema = self.files.find_types()
            self.types = None if self._schema is None else {each.name: str(each.type) for each in self._schema}
        return None

    def read_piece(self, piece: FileSlice) -> Iterator[pa.Table]:
        reader = format_named(format_of(piece.path) or "")
        options: dict[str, Any] = {"batch_bytes": self.batch_bytes, "limits": self.limits, "types": self._schema}
        return reader.read(piece, columns=self.columns, **options)


@dataclass
class ReadHf(CompositeStage[EmptyTask, TableBatch]):
    """Read a Hugging Face dataset from disk, without the ``datasets`` package.

    Takes what ``save_to_disk`` writes (a dataset or a dictionary of splits), the cache of ``load_dataset``, and
    repositories of Parquet, JSON Lines, CSV or Arrow files as they come from the hub. Splits are told by what the
    dataset declares, else by the words in names of files and folders that ``datasets`` knows.

    >>> [stage.name for stage in ReadHf("fineweb-sample", split="train").decompose()]
    ['text.read_hf.files', 'text.read_hf']

    Args:
        path: Folder or URL of the dataset.
        split: Split to read, a list of several, or ``*`` for all; may be left out where there is only one.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
    """

    path: str
    split: str | list[str] | None = field(default=None, kw_only=True)
    text_field: str = field(default="text", kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "text.read_hf"
    batch_type: ClassVar[type[TableBatch]] = DocumentBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and the reading stage; the latter bears this stage's name."""
        listing = self._listing()
        reader = ReadHfPieces(
            columns=self._columns(),
            batch_bytes=self.block_bytes,
            limits=listing.limits,
            batch_type=self.batch_type,
            files=listing,
        )
        return [listing, reader.with_(name=self.name)]

    def outputs(self) -> Columns:
        return _with_provenance(self._columns() or ())

    def preflight(self) -> Sequence[str] | None:
        return self._listing().preflight()

    def _listing(self) -> ListHfFiles:
        listing = ListHfFiles(
            self.path,
            split=self.split,
            block_bytes=self.block_bytes,
            limit_files=self.limit_files,
            follow_links=self.follow_links,
            columns=self._columns(),
            limits=Limits(
                max_record_bytes=self.max_record_bytes,
                max_expansion=self.max_expansion,
                max_columns=self.max_columns,
                verify=self.verify,
            ),
        )
        return listing.with_(name=f"{self.name}.files")

    def _columns(self) -> list[str] | None:
        if self.columns is None or self.text_field in self.columns:
            return self.columns
        return [*self.columns, self.text_field]


def _with_provenance(names: Sequence[str]) -> list[str]:
    return [*(name for name in names if name not in (SOURCE_COLUMN, ROW_COLUMN)), SOURCE_COLUMN, ROW_COLUMN]
