"""The table formats: their extensions, how a file of each may be cut, and where its code is."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import (
    COMPRESSED_EXTENSIONS,
    DEFAULT_BLOCK_BYTES,
    FileSlice,
    UnknownNameError,
    compression_of,
    plan_slices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import FileEntry, FileReader, Limits
    from curator_table.json.kinds import Kinds
    from curator_table.list_tables import ListTables

__all__ = ["FORMATS", "Format", "format_named"]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format that holds tables.

    Args:
        name: Name in parameters, and the suffix of its functions.
        module: Module with ``read_<name>``, ``write_<name>`` and ``look_<name>``; imported when first used.
        base_extensions: Extensions of its files; the first is used for writing.
        cut: Where a large file may be cut.
        takes_compression: Whether whole files are compressed from outside (``.jsonl.zst``).
    """

    name: str
    module: str
    base_extensions: tuple[str, ...]
    cut: Literal["bytes", "row_groups", "nowhere"]
    takes_compression: bool = False

    @property
    def extensions(self) -> tuple[str, ...]:
        """All extensions, compressed ones included."""
        outer = ("", *COMPRESSED_EXTENSIONS) if self.takes_compression else ("",)
        return tuple(inner + each for inner in self.base_extensions for each in outer)

    def read(
        self,
        piece: FileSlice,
        *,
        columns: Sequence[str] | None = None,
        batch_bytes: int = DEFAULT_BLOCK_BYTES,
        limits: Limits | None = None,
        types: pa.Schema | None = None,
    ) -> Iterator[pa.Table]:
        """Yield the tables of a slice.

        Args:
            piece: A file, or a part of it.
            columns: Columns to read; all, where None.
            batch_bytes: Size of a table.
            limits: Caps against hostile files.
            types: Types of the columns in the whole run; other values are reported. Each file has its own,
                where None.
        """
        options: dict[str, Any] = {"columns": columns, "batch_bytes": batch_bytes, "limits": limits}
        if self.name == "jsonl":  # the parser needs the types in advance
            options["types"] = types
        tables: Iterator[pa.Table] = self._function("read")(piece, **options)
        if types is None or self.name == "jsonl":
            return tables
        from curator_table.types.conforming import conform

        return conform(tables, types, piece.path, columns)

    def write(self, table: pa.Table, path: str, **options: Any) -> int:
        """Write a table; return the bytes written."""
        return int(self._function("write")(table, path, **options))

    def listing(self, reader: FileReader) -> ListTables:
        """Return the stage that lists the files of a reader, cuts them, and finds their columns."""
        from curator_table.list_tables import ListTables

        return reader.listed_by(ListTables, format=self.name)

    def read_slice(self, reader: FileReader, piece: FileSlice) -> Iterator[pa.Table]:
        """Yield the tables of a slice as a reader wants them."""
        columns, limits, types = reader.columns, reader.limits, reader.run_schema
        return self.read(piece, columns=columns, batch_bytes=reader.block_bytes, limits=limits, types=types)

    def check_written(self, folder: str) -> None:
        """Warn where the files of a folder cannot be read as one table."""
        if not self.takes_compression:  # else a file does not say of which types its columns are
            from curator_table.types.column_types import warn_of_differences

            warn_of_differences(folder, self.name)

    def look(self, piece: FileSlice, *, max_bytes: int, limits: Limits) -> Kinds | dict[str, pa.DataType]:
        """Return the columns of a file: their types, or for JSON lines the kinds of values that some records have.

        Args:
            piece: The file.
            max_bytes: How much of it is read, where it has no header or footer that says it.
            limits: Caps against hostile files.
        """
        found: Kinds | dict[str, pa.DataType] = self._function("look")(piece, max_bytes=max_bytes, limits=limits)
        return found

    def plan(self, entries: Iterable[FileEntry], *, block_bytes: int) -> Iterator[tuple[FileSlice, ...]]:
        """Cut files of this format into units of work."""
        return plan_slices(
            entries,
            block_bytes=block_bytes,
            splittable=lambda entry: self.cut == "bytes" and compression_of(entry.path) is None,
            group_sizes=self._group_sizes if self.cut == "row_groups" else None,
        )

    def _group_sizes(self, entry: FileEntry) -> Sequence[int] | None:
        module = importlib.import_module(self.module)
        sizes: Sequence[int] | None = getattr(module, f"{self.name}_group_sizes")(_whole(entry))
        return sizes

    def _function(self, verb: str) -> Any:
        return getattr(importlib.import_module(self.module), f"{verb}_{self.name}")


FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("jsonl", "curator_table.json.jsonl", (".jsonl", ".ndjson"), cut="bytes", takes_compression=True),
        Format("parquet", "curator_table.parquet.parquet_files", (".parquet", ".pq"), cut="row_groups"),
        Format("csv", "curator_table.csv.csv_files", (".csv",), cut="nowhere", takes_compression=True),
        Format("arrow", "curator_table.arrow.ipc", (".arrow", ".feather", ".ipc"), cut="nowhere"),
    )
}


def format_named(name: str) -> Format:
    """Return a format.

    Raises:
        UnknownNameError: There is no format of that name.
    """
    if name not in FORMATS:
        raise UnknownNameError("file format", name, FORMATS, fix=f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def _whole(entry: FileEntry) -> FileSlice:
    return FileSlice(entry.path, file_bytes=entry.size_bytes, version=entry.version)
