"""The stage that lists files of a table format, cuts them where that format allows it, and finds their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, Limits, ListFiles, UnknownNameError
from curator_table.formats import format_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import FileEntry, FileSlice

__all__ = ["ListTables", "names_in_table", "with_provenance_names"]

_FIXED_SCHEMA = frozenset({"parquet", "arrow", "csv"})


@dataclass
class ListTables(ListFiles):
    """List files of a table format; large ones are cut where the format allows it.

    Args:
        format: Table format. It gives the extensions looked for in folders, unless ``extensions`` does, and says how a
            file may be cut; ``splittable`` is for files without a format.
        columns: Columns that will be read, checked against the files before the run.
        schema: Types of columns, where they are not to be found out by a look at the files.
        max_columns: Maximum number of columns of a table, nested fields included.
    """

    format: str = field(kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)

    def __post_init__(self) -> None:
        format_named(self.format)
        super().__post_init__()

    def plan(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileSlice, ...]]:
        """Cut files into units of work, lazily and in their order."""
        return format_named(self.format).plan(entries, block_bytes=self.block_bytes)

    @property
    def looked_for(self) -> list[str] | None:
        """Extensions looked for in folders: those of the format, unless others are given."""
        return list(format_named(self.format).extensions) if self.extensions is None else self.extensions

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something, and find the columns.

        Raises:
            ConfigError: A path matches nothing, or columns have types that do not go together.
            UnknownNameError: A requested column is in none of the files, whose schema is fixed.
        """
        files = self.files_before_run()
        types = self.find_types(files)
        if self.columns is None:
            return None if types is None else names_in_table(types.names)
        if types is not None and self.format in _FIXED_SCHEMA:
            self._check_columns(types.names, files[0])
        return with_provenance_names(self.columns)

    def find_types(self, files: Sequence[FileEntry] | None = None) -> pa.Schema | None:
        """Return the types of the columns as a look at the files finds them; None where no file can be read.

        Args:
            files: The files, where they are known.
        """
        from curator_table.types.column_types import find_types

        if not hasattr(self, "_types"):
            files = self.files_before_run() if files is None else files
            limits = Limits(max_columns=self.max_columns)
            self._types = find_types(files, self.format, limits=limits, columns=self.columns, declared=self.schema)
        return self._types

    def _check_columns(self, found: Sequence[str], first: FileEntry) -> None:
        for name in self.columns or ():
            if name not in (*found, SOURCE_COLUMN, ROW_COLUMN):
                from curator_table.types.column_types import find_types

                types = find_types([first], self.format, limits=Limits(max_columns=self.max_columns))
                there = found if types is None else types.names
                raise UnknownNameError(f"column of {first.path}:", name, there, fix=f"the file has: {', '.join(there)}")


def names_in_table(names: Sequence[str]) -> list[str]:
    """Return the columns of a table that is read, given those of the files."""
    from curator_core.sdk import own_name

    return [*(own_name(name, taken=names) for name in names), SOURCE_COLUMN, ROW_COLUMN]


def with_provenance_names(columns: Iterable[str]) -> list[str]:
    """Return the columns of a table that are read, given the requested ones."""
    return [*(name for name in columns if name not in (SOURCE_COLUMN, ROW_COLUMN)), SOURCE_COLUMN, ROW_COLUMN]
