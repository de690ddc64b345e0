"""Read whole files as rows: images, audio, video, documents."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from curator_core.authoring.file_keys import key_of_uri
from curator_core.authoring.list_files import ListFiles, listing_of, report_unreadable
from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, FileGroupTask, TableBatch
from curator_core.files.filesystems import check_name, open_slice
from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.values.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.authoring.stage import Columns
    from curator_core.authoring.tasks import FileSlice

__all__ = ["BYTES_COLUMN", "KEY_COLUMN", "SIZE_COLUMN", "URI_COLUMN", "FolderReader"]

URI_COLUMN = "uri"
KEY_COLUMN = "key"
BYTES_COLUMN = "bytes"
SIZE_COLUMN = "size_bytes"

Row = tuple["FileSlice", "int | None", "bytes | None"]


@dataclass
class FolderReader(ProcessingStage[FileGroupTask, TableBatch]):
    """Base of readers that make a row of every file: ``uri``, ``key``, ``bytes`` where asked for, and ``size_bytes``.

    The key is the file's path below the folder that was listed, without its extension, and unique; ``_row`` is 0.
    A file that is too large or cannot be read is one bad record; the others come out.

    >>> class ReadIcons(FolderReader):
    ...     usual_extensions = (".ico",)
    >>> ReadIcons("icons").outputs()
    ['uri', 'key', 'bytes', 'size_bytes', '_source', '_row']

    Args:
        paths: Files, folders, globs or URLs.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        with_bytes: Read the content, too; without it a later stage opens the file by its uri.
        max_file_bytes: A larger file is reported and left out.
        extensions: Extensions looked for in folders, in place of the usual ones; files with others are counted.
    """

    paths: str | list[str]
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    with_bytes: bool = field(default=True, kw_only=True)
    max_file_bytes: int = field(default=Limits().max_file_bytes, kw_only=True)
    extensions: list[str] | None = field(default=None, kw_only=True)

    thread_safe: ClassVar[bool] = True
    usual_extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions looked for in folders; any, where empty."""
    batch_type = TableBatch  # without an annotation, because it is no parameter
    """Type of task to make."""
    _listing = cast("ListFiles | None", None)

    def listing(self) -> ListFiles:
        """Return the stage that lists the files."""
        extensions = list(self.usual_extensions) or None if self.extensions is None else self.extensions
        return listing_of(self, ListFiles, extensions=extensions, with_keys=True)

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the listing stage and this one."""
        reader = copy.copy(self)
        reader._listing = self.listing()  # noqa: SLF001 - of its own class
        return [reader._listing, reader]  # noqa: SLF001

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something, which in a plan the listing stage does; return the columns."""
        if self._listing is None:
            self.listing().preflight()
        return columns_of(self.outputs())

    def outputs(self) -> Columns:
        content = [BYTES_COLUMN] if self.with_bytes else []
        return [URI_COLUMN, KEY_COLUMN, *content, SIZE_COLUMN, SOURCE_COLUMN, ROW_COLUMN]

    def process(self, task: FileGroupTask) -> Iterator[TableBatch]:
        """Yield tables of the files of a unit of work, up to ``block_bytes`` of content each."""
        for rows in self._groups(task.data):
            yield self.batch_type(data=self._table(rows), dataset_name=task.dataset_name, meta=dict(task.meta))

    def _groups(self, pieces: Sequence[FileSlice]) -> Iterator[list[Row]]:
        rows: list[Row] = []
        held_bytes = 0
        for piece in pieces:
            try:
                row = self._row(piece)
            except DataError as error:
                report_unreadable(piece, error)
                continue
            size = len(row[2] or b"")
            if rows and held_bytes + size > self.block_bytes:
                yield rows
                rows, held_bytes = [], 0
            rows.append(row)
            held_bytes += size
        if rows:
            yield rows

    def _row(self, piece: FileSlice) -> Row:
        max_bytes = self.max_file_bytes
        check_name(piece)
        if not self.with_bytes:
            return piece, piece.file_bytes, None
        if (piece.file_bytes or 0) <= max_bytes:
            with open_slice(piece) as file:
                content: bytes = file.read(max_bytes + 1)
            if piece.file_bytes not in (None, len(content)) and len(content) <= max_bytes:
                raise DataError(
                    f"{len(content):,} bytes could be read of {piece.file_bytes:,} listed: the file changed",
                    source=piece.path,
                    fix="do not change input files during a run",
                )
            if len(content) <= max_bytes:
                return piece, len(content), content
        raise DataError(
            f"the file is larger than {max_bytes:,} bytes; raise max_file_bytes, or read it with with_bytes: false",
            source=piece.path,
        )

    def _table(self, rows: Sequence[Row]) -> pa.Table:
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
        return pa.table(columns)
