"""Write rows to folders by the value of a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import polars as pl

from curator_core.sdk import (
    ConfigError,
    FileWriter,
    StageError,
    full_url,
    make_folder,
    open_filesystem,
)
from curator_table.stages.sample import hash_text
from curator_table.table_writer import WriteJsonl, WriteParquet

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.sdk import Columns, FileGroupTask, TableBatch

__all__ = ["WriteRouted", "folder_of"]

_NULL, _EMPTY = "(null)", "(empty)"  # brackets are quoted, so no value is called that
_MAX_NAME_CHARS = 150


@dataclass
class WriteRouted(FileWriter):
    """Write each value's rows to a folder of its own: one output for each bucket, language or source.

    A pipeline is a straight line; this stage gives it several outputs. Files are named after their task and appear
    whole or not at all, as those of the other writers do; ``bucket: high`` goes to ``PATH/high/part-….jsonl``.
    Characters that a folder's name cannot have are escaped as in URLs (``a/b`` is ``a%2Fb``); null is ``(null)``.

    >>> WriteRouted("out", column="bucket").folder("high quality")
    'out/high quality'

    Args:
        path: Folder or URL that the folders are made in.
        column: Column by whose value rows are parted: text, whole numbers or true and false.
        format: Format of the files.
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``; for JSON Lines.
        max_values: Maximum number of values in one batch. More are an error, because each becomes a file.
    """

    column: str = "bucket"
    format: Literal["jsonl", "parquet"] = "jsonl"
    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    compression: Literal["gz", "zst", "bz2", "xz"] | None = field(default=None, kw_only=True)
    max_values: int = field(default=1000, kw_only=True)

    name = "table.route"

    def __post_init__(self) -> None:
        if self.format == "parquet" and self.compression is not None:
            raise ConfigError(f"{self.name}: Parquet compresses its pages, not the file", fix="leave compression out")
        self.extension = self._writer(self.path).extension
        if self.max_values < 1:
            raise ConfigError(f"{self.name}: max_values must be at least 1, got {self.max_values}")

    def inputs(self) -> Columns:
        return list(dict.fromkeys([self.column, *(self.columns or ())]))

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where it has no rows."""
        values = task.series(self.column)
        if not (values.dtype.is_integer() or values.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)):
            raise StageError(
                f"{self.name}: column {self.column!r} holds {values.dtype}, by which no folder can be named",
                fix="part by text, whole numbers or true and false",
            )
        names = values.cast(pl.String)
        found = names.unique().sort(nulls_last=True).to_list()
        if len(found) > self.max_values:
            raise StageError(
                f"{self.name}: column {self.column!r} has {len(found):,} values in a batch, above {self.max_values:,}",
                fix="part by a column with fewer values, or raise max_values",
            )
        sizes: dict[str, int] = {}
        for value in found:
            folder = self.folder(value)
            make_folder(folder)
            output = self._writer(folder).process(task.with_data(task.data.filter(names.eq_missing(value).to_arrow())))
            assert output is not None  # every value has a row
            sizes |= {piece.path: piece.file_bytes or 0 for piece in output.data}
        return self.written(task, sizes, rows=task.num_rows) if sizes else None

    def folder(self, value: str | None) -> str:
        """Return the folder of a value."""
        return f"{self.path.rstrip('/') or '/'}/{folder_of(value)}"

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks from all folders."""
        filesystem, inner = open_filesystem(self.path)
        filesystem.invalidate_cache(inner)
        try:
            entries = filesystem.ls(inner, detail=True)
        except FileNotFoundError:
            return
        for entry in entries:
            if entry["type"] == "directory":
                self._writer(full_url(filesystem, entry["name"], self.path)).remove_output(sources, only_torn=only_torn)

    def _writer(self, folder: str) -> WriteJsonl | WriteParquet:
        if self.format == "parquet":
            return WriteParquet(folder, columns=self.columns, keep_provenance=self.keep_provenance)
        return WriteJsonl(
            folder, columns=self.columns, keep_provenance=self.keep_provenance, compression=self.compression
        )


def folder_of(value: str | None) -> str:
    """Return a folder's name for a value; different values have different names.

    >>> folder_of("zh-TW"), folder_of("a/b"), folder_of(".."), folder_of(None), folder_of("")
    ('zh-TW', 'a%2Fb', '%2E.', '(null)', '(empty)')
    """
    if not value:
        return _NULL if value is None else _EMPTY
    name = quote(value, safe=" -_.+=,@")
    if name[0] in "._":  # names that begin so are left out when folders are listed
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) <= _MAX_NAME_CHARS:
        return name
    return f"{name[:_MAX_NAME_CHARS]}-{hash_text(value, 0):016x}"
