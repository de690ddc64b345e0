"""Readers: what every stage that reads files shares, whatever is in them."""

from __future__ import annotations

import copy
import io
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Protocol, TypeVar, cast

from curator_core.authoring.folder_reader import FolderReader
from curator_core.authoring.list_files import ListFiles, listing_of, report_unreadable
from curator_core.authoring.recording import BadRecord, report
from curator_core.authoring.stage import CompositeStage, ProcessingStage, columns_of
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, FileGroupTask, TableBatch
from curator_core.files.compression import compression_of
from curator_core.files.decompression import Decompressor, ListedSize
from curator_core.files.filesystems import is_transient, open_slice
from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.values.errors import CuratorError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeGuard

    import pyarrow as pa

    from curator_core.authoring.stage import Columns
    from curator_core.authoring.tasks import FileSlice

__all__ = ["FileReader", "is_composite"]

ListT = TypeVar("ListT", bound=ListFiles)


class ReadableFormat(Protocol):
    """What lists and reads the files of a format, for any reader that holds it."""

    def listing(self, reader: FileReader) -> ListFiles: ...
    def read_slice(self, reader: FileReader, piece: FileSlice) -> Iterator[pa.Table]: ...


@dataclass
class FileReader(ProcessingStage[FileGroupTask, TableBatch]):
    """Base of stages that read files: a subclass turns one file, or a slice of one, into tables, or names a format.

    The first stage of a pipeline. In the plan it is two: ``NAME.files`` lists the files and groups small ones, and the
    reader reads them, on as many workers as there is work for. Tables get ``_source`` and ``_row`` where they lack
    them, small ones are joined where their columns agree, and large ones are cut. A file that cannot be read is one bad
    record; its neighbours come out.

    >>> import pyarrow as pa
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class ReadLogs(FileReader):
    ...     extensions = (".log", ".log.gz")
    ...     def read_slice(self, piece):
    ...         with self.open(piece) as file:
    ...             yield pa.table({"message": [line.decode().rstrip() for line in file]})
    >>> [stage.name for stage in ReadLogs("logs").decompose()]
    ['ReadLogs.files', 'ReadLogs']

    A field of a subclass that has the name of one of these attributes, or of :class:`Limits`, becomes a parameter with
    that meaning.

    Args:
        paths: Files, folders, globs or URLs.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.

    Attributes:
        columns: Columns to read; all, where None. ``_source`` and ``_row`` always come along.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included, against records that each have keys of their own.
        max_record_bytes: A longer record is quarantined.
        verify: Check compressed files to their end before the first row comes out (see :class:`Decompressor`).
    """

    paths: str | list[str]
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)

    thread_safe: ClassVar[bool] = True
    has_fixed_columns: ClassVar[bool] = False
    """Whether there are just the columns that ``outputs()`` names, so that a missing one is found before a run."""
    # Without annotations, because these are no parameters; a subclass may make some of them.
    extensions = cast("Sequence[str] | None", None)
    columns = cast("list[str] | None", None)
    schema = cast("dict[str, Any] | None", None)
    table_format = cast("ReadableFormat | None", None)
    """What lists and reads the files where the subclass does not: a value of ``curator_table.FORMATS``."""
    run_schema = cast("pa.Schema | None", None)
    """Types of the columns in the whole run, under their names in the files, where the listing stage finds them."""
    batch_type = TableBatch
    """Type of task to make."""
    _listing = cast("ListFiles | None", None)

    def __post_init__(self) -> None:
        if self.table_format is None and type(self).read_slice is FileReader.read_slice:
            raise TypeError(f"{type(self).__name__} defines neither read_slice nor table_format")

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        """Yield the tables of a file, or of a slice of one where :meth:`listing` cuts files."""
        assert self.table_format is not None
        return self.table_format.read_slice(self, piece)

    @contextmanager
    def open(self, piece: FileSlice) -> Iterator[BinaryIO]:
        """Open a file, decompressed if its extension says so.

        What comes out has passed its checksum and is no larger than :attr:`limits` allow.
        """
        with open_slice(piece) as file:
            is_compressed = compression_of(piece.path) is not None
            stream = Decompressor(file, piece.path, self.limits) if is_compressed else ListedSize(file, piece)
            yield io.BufferedReader(_Readable(stream))

    @property
    def limits(self) -> Limits:
        """Caps on what a hostile file may take: those that the reader has a parameter for, and defaults."""
        return Limits(**self.values_for(Limits))

    @property
    def looked_for(self) -> list[str] | None:
        """Extensions looked for in folders; any, where None."""
        return None if self.extensions is None else list(self.extensions)

    def listing(self) -> ListFiles:
        """Return the stage that lists the files. Override it where large files can be cut."""
        return self.listed_by(ListFiles) if self.table_format is None else self.table_format.listing(self)

    def listed_by(self, listing: type[ListT], **values: Any) -> ListT:
        """Return a listing stage of a class: with the reader's parameters, where no other values are given."""
        return listing_of(self, listing, **{"extensions": self.looked_for, **values})

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and this one."""
        reader = copy.copy(self)
        reader._listing = self.listing()  # noqa: SLF001 - of its own class
        return [reader._listing, reader]  # noqa: SLF001

    def outputs(self) -> Columns:
        chosen = [name for name in self.columns or () if name not in (SOURCE_COLUMN, ROW_COLUMN)]
        return [*chosen, SOURCE_COLUMN, ROW_COLUMN]

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something, which in a plan the listing stage does; return the columns if known."""
        found = None
        if self._listing is None:
            found = self.listing().preflight()
        else:
            self.run_schema = self.find_types()
            if self.run_schema is not None:  # for the ledger: a run that is resumed must have found the same
                self.schema = {each.name: str(each.type) for each in self.run_schema}
        return columns_of(self.outputs()) if self.has_fixed_columns else found

    def find_types(self) -> pa.Schema | None:
        """Return the types of the columns as the listing stage finds them; None where it does not."""
        return (self._listing or self.listing()).find_types()

    def process(self, task: FileGroupTask) -> Iterator[TableBatch]:
        """Yield the tables of a unit of work."""
        from curator_core.authoring.joining import join_tables

        for table in join_tables(self._tables(task.data), self.block_bytes):
            yield self.batch_type(data=table, dataset_name=task.dataset_name, meta=dict(task.meta))

    def _tables(self, pieces: Sequence[FileSlice]) -> Iterator[pa.Table]:
        for piece in pieces:
            try:
                yield from self._with_provenance(piece)
            except DataError as error:  # noqa: PERF203 - each file may fail on its own
                report_unreadable(piece, error)
            except CuratorError:
                raise
            except Exception as error:
                # Isolation border: a damaged file may make a parser raise anything, which must not cost its neighbours.
                if is_transient(error):
                    raise
                message = f"the file cannot be read: {type(error).__name__}: {error}"
                report().bad_record(BadRecord(message, piece.path, 0, error_type=type(error).__name__))

    def _with_provenance(self, piece: FileSlice) -> Iterator[pa.Table]:
        rows = piece.start  # a row has at least a byte, so that no two slices of a file meet
        for table in self.read_slice(piece):
            if SOURCE_COLUMN in table.column_names and ROW_COLUMN in table.column_names:
                yield table
                continue
            from curator_core.authoring.provenance import with_provenance

            whole = with_provenance(table, piece.path, range(rows, rows + table.num_rows))
            rows += table.num_rows
            yield from _cut(whole, self.block_bytes)


def is_composite(stage: ProcessingStage[Any, Any]) -> TypeGuard[CompositeStage[Any, Any] | FileReader | FolderReader]:
    """Return whether a plan has other stages in the place of this one: those that ``decompose()`` returns.

    >>> from curator_core import TableBatch, processing_stage
    >>> @processing_stage(name="same")
    ... def same(batch: TableBatch) -> TableBatch:
    ...     return batch
    >>> is_composite(same)
    False
    """
    is_reader = isinstance(stage, (FileReader, FolderReader)) and stage._listing is None  # noqa: SLF001 - of its own kind
    return is_reader or isinstance(stage, CompositeStage)


def _cut(table: pa.Table, block_bytes: int) -> Iterator[pa.Table]:
    """Yield a table in slices of equal numbers of rows, of about ``block_bytes``."""
    count = max(1, min(table.num_rows, table.nbytes // block_bytes))
    edges = [index * table.num_rows // count for index in range(count + 1)]
    for start, end in pairwise(edges):
        yield table.slice(start, end - start)


class _Readable(io.RawIOBase):
    """What has ``read`` as a raw stream, for the buffer that finds its lines."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
