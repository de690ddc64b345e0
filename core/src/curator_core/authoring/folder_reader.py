"""Read whole files as rows: images, audio, video, documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.authoring.file_keys import key_of_uri
from curator_core.authoring.list_files import ListFiles
from curator_core.authoring.recording import BadRecord, report
from curator_core.authoring.stage import CompositeStage, ProcessingStage
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, EmptyTask, FileGroupTask, TableBatch
from curator_core.files.filesystems import check_name, open_slice
from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.values.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.stage import Columns
    from curator_core.authoring.tasks import FileSlice

__all__ = ["BYTES_COLUMN", "KEY_COLUMN", "SIZE_COLUMN", "URI_COLUMN", "FolderReader", "ReadFiles"]

URI_COLUMN = "uri"
KEY_COLUMN = "key"
BYTES_COLUMN = "bytes"
SIZE_COLUMN = "size_bytes"


@dataclass
class ReadFiles(ProcessingStage[FileGroupTask, TableBatch]):
    """Make a row of every file: ``uri``, ``key``, the ``bytes`` where asked for, ``size_bytes``, ``_source``, ``_row``.

    The key is the file's path below the folder that was listed, without its extension, and unique; ``_row`` is 0.
    A file that is too large or cannot be read is reported as a bad record; the others come out.

    Args:
        with_bytes: Read the content, too; without it a later stage opens the file by its uri.
        batch_bytes: Size of a table.
        limits: ``max_file_bytes`` is the largest file read.
        batch_type: Type of task to make.
    """

    with_bytes: bool = field(default=True, kw_only=True)
    batch_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)
    batch_type: type[TableBatch] = field(default=TableBatch, kw_only=True)

    thread_safe: ClassVar[bool] = True

    def process(self, task: FileGroupTask) -> Iterator[TableBatch]:
        """Yield tables of files, up to ``batch_bytes`` of content each."""
        rows: list[tuple[FileSlice, int | None, bytes | None]] = []
        held_bytes = 0
        for piece in task.data:
            try:
                size, content = self._read(piece)
            except DataError as error:
                source = error.source or piece.path
                message = error.message.removeprefix(f"{source}: ")
                report().bad_record(BadRecord(message, source, 0, error_type="UnreadableFile"))
                continue
            if rows and held_bytes + len(content or b"") > self.batch_bytes:
                yield self._batch(rows, task)
                rows, held_bytes = [], 0
            rows.append((piece, size, content))
            held_bytes += len(content or b"")
        if rows:
            yield self._batch(rows, task)

    def outputs(self) -> Columns:
        return _columns(with_bytes=self.with_bytes)

    def preflight(self) -> Sequence[str] | None:
        """Say which columns there are: always the same ones."""
        return _columns(with_bytes=self.with_bytes)

    def _read(self, piece: FileSlice) -> tuple[int | None, bytes | None]:
        largest = self.limits.max_file_bytes
        check_name(piece)
        if not self.with_bytes:
            return piece.file_bytes, None
        if (piece.file_bytes or 0) <= largest:
            with open_slice(piece) as file:
                content: bytes = file.read(largest + 1)
            if piece.file_bytes not in (None, len(content)) and len(content) <= largest:
                raise DataError(
                    f"{len(content):,} bytes could be read of {piece.file_bytes:,} listed: the file changed",
                    source=piece.path,
                    fix="do not change input files during a run",
                )
            if len(content) <= largest:
                return len(content), content
        raise DataError(
            f"the file is larger than {largest:,} bytes; raise max_file_bytes, or read it with with_bytes: false",
            source=piece.path,
        )

    def _batch(self, rows: Sequence[tuple[FileSlice, int | None, bytes | None]], task: FileGroupTask) -> TableBatch:
        import numpy as np
        import pyarrow as pa

        paths = pa.array([piece.path for piece, _, _ in rows], pa.string())
        keys = [piece.key or key_of_uri(piece.path) for piece, _, _ in rows]
        columns = {URI_COLUMN: paths, KEY_COLUMN: pa.array(keys, pa.string())}
        if self.with_bytes:
            columns[BYTES_COLUMN] = pa.array([content for _, _, content in rows], pa.large_binary())
        columns[SIZE_COLUMN] = pa.array([size for _, size, _ in rows], pa.int64())
        columns[SOURCE_COLUMN] = paths.dictionary_encode()
        columns[ROW_COLUMN] = pa.array(np.zeros(len(rows), dtype=np.int64))
        return self.batch_type(data=pa.table(columns), dataset_name=task.dataset_name, meta=dict(task.meta))


@dataclass
class FolderReader(CompositeStage[EmptyTask, TableBatch]):
    """Base of stages that read whole files as rows: lists the files, then reads them.

    Args:
        paths: Files, folders, globs or URLs.
        with_bytes: Read the content, too; without it a later stage opens the file by its uri.
        block_bytes: Bytes of files in a unit of work and in a table.
        max_file_bytes: A larger file is reported and left out.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        extensions: Extensions looked for in folders, in place of the usual ones; files with others are counted.
    """

    paths: str | list[str]
    with_bytes: bool = field(default=True, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    max_file_bytes: int = field(default=Limits().max_file_bytes, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    extensions: list[str] | None = field(default=None, kw_only=True)

    usual_extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions looked for in folders; any, where empty."""
    batch_type: ClassVar[type[TableBatch]] = TableBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and the reading stage; the latter bears this stage's name."""
        reader = ReadFiles(
            with_bytes=self.with_bytes,
            batch_bytes=self.block_bytes,
            limits=Limits(max_file_bytes=self.max_file_bytes),
            batch_type=self.batch_type,
        )
        return [self._listing(), reader.with_(name=self.name)]

    def outputs(self) -> Columns:
        return _columns(with_bytes=self.with_bytes)

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something; the columns are always the same."""
        self._listing().preflight()
        return _columns(with_bytes=self.with_bytes)

    def _listing(self) -> ListFiles:
        listing = ListFiles(
            self.paths,
            extensions=list(self.usual_extensions) or None if self.extensions is None else self.extensions,
            block_bytes=self.block_bytes,
            limit_files=self.limit_files,
            follow_links=self.follow_links,
            with_keys=True,
        )
        return listing.with_(name=f"{self.name}.files")


def _columns(*, with_bytes: bool) -> list[str]:
    content = [BYTES_COLUMN] if with_bytes else []
    return [URI_COLUMN, KEY_COLUMN, *content, SIZE_COLUMN, SOURCE_COLUMN, ROW_COLUMN]
