"""Read Hugging Face datasets from disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import FileReader, Limits, ListFiles
from curator_table.formats import format_named
from curator_table.hf.layout import chosen_files, format_of
from curator_table.list_tables import names_in_table, with_provenance_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import FileEntry, FileSlice

__all__ = ["ListHfFiles", "ReadHf"]


@dataclass
class ListHfFiles(ListFiles):
    """List the files of datasets; large ones are cut where their format allows it.

    Args:
        split: Splits to read.
        columns: Columns that will be read.
        schema: Types of columns, where they are not to be found out by a look at the files.
        limits: Caps against hostile files.
    """

    split: str | list[str] | None = field(default=None, kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)

    def files(self) -> list[FileEntry]:
        """List the data files, in the order of the datasets and splits."""
        folders = [self.paths] if isinstance(self.paths, str) else self.paths
        found = [each for path in folders for each in chosen_files(path, self.split, follow_links=self.follow_links)]
        return [each for each in found if format_of(each.path) is not None][: self.limit_files]

    def plan(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileSlice, ...]]:
        """Cut files into units of work, lazily and in their order."""
        for name, own in groupby(entries, key=lambda entry: format_of(entry.path) or ""):
            yield from format_named(name).plan(own, block_bytes=self.block_bytes)

    def preflight(self) -> Sequence[str] | None:
        """Check that the datasets are there, and find their columns."""
        types = self.find_types()
        if self.columns is not None:
            return with_provenance_names(self.columns)
        return None if types is None else names_in_table(types.names)

    def find_types(self) -> pa.Schema | None:
        """Return the types of the columns as a look at the files finds them; None where no file can be read.

        Raises:
            ConfigError: They do not go together.
        """
        from curator_table.types.column_types import find_types, join_types

        groups: dict[str, list[FileEntry]] = {}
        for entry in self.files_before_run():
            groups.setdefault(format_of(entry.path) or "", []).append(entry)
        found = (
            find_types(own, name, limits=self.limits, columns=self.columns, declared=self.schema)
            for name, own in groups.items()
        )
        return join_types(found, str(self.paths))


@dataclass
class ReadHf(FileReader):
    """Read Hugging Face datasets from disk, without the ``datasets`` package.

    Reads the output of ``save_to_disk`` (a dataset or a dictionary of splits), the cache of ``load_dataset``, and
    repositories of Parquet, JSON Lines, CSV or Arrow files as they come from the hub. Splits are those that
    the dataset declares, else those in the names of files and folders, by the rules of ``datasets``.

    >>> [stage.name for stage in ReadHf("fineweb-sample", split="train").decompose()]
    ['table.read_hf.files', 'table.read_hf']

    Args:
        paths: Folder or URL of the dataset; a list of several.
        split: Split to read, a list of several, or ``*`` for all; may be left out where there is only one.
        max_record_bytes: A longer line of JSON is quarantined.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    split: str | list[str] | None = field(default=None, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "table.read_hf"
    version: ClassVar[str] = "2"

    def listing(self) -> ListHfFiles:
        return self.listed_by(ListHfFiles)

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        return format_named(format_of(piece.path) or "").read_slice(self, piece)
