"""The files to deduplicate, and the stages that read them and write the remaining rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    PROVENANCE_COLUMNS,
    ConfigError,
    EmptyTask,
    FileWriter,
    Recording,
    UnknownNameError,
    compression_of,
    list_files,
)
from curator_dedup.held_tables import ReadHeld
from curator_table import FORMATS, ListTables, format_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator_core.sdk import FileGroupTask, ProcessingStage, TableBatch

__all__ = ["Corpus", "WriteDocuments"]

_EXPANSION = 4
"""How many times larger a compressed file is taken to be, to choose a number of partitions."""


@dataclass(frozen=True)
class Corpus:
    """Files of one format.

    Args:
        paths: Files, folders, globs or URLs.
        format: Table format; found out from the first file unless given.
        block_bytes: Size of a unit of work.
        name: Under which tables are held in memory, where they are (see :mod:`curator_dedup.held_tables`).
        held_columns: Columns that are then held: those that some pass needs; all, where None.
    """

    paths: str | list[str]
    format: str | None = None
    block_bytes: int = DEFAULT_BLOCK_BYTES
    name: str = ""
    held_columns: list[str] | None = None
    _facts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def format_name(self) -> str:
        """Name of the format.

        Raises:
            ConfigError: No file is of a known format, or there are several.
        """
        if self.format is not None:
            return format_named(self.format).name
        return str(self._found()["format"])

    @property
    def compression(self) -> str | None:
        """How the first file is compressed, if it is."""
        found: str | None = self._found()["compression"]
        return found

    @property
    def total_bytes(self) -> int:
        """About how many bytes the documents have, uncompressed."""
        return int(self._found()["bytes"])

    def check_columns(self, columns: list[str]) -> None:
        """Refuse columns that the first file does not have.

        Raises:
            UnknownNameError: Names the nearest one.
        """
        found = ListTables(self.paths, format=self.format_name, block_bytes=self.block_bytes).preflight()
        if found is None:
            return  # reading it will report why
        own = [each for each in found if each not in PROVENANCE_COLUMNS]
        for name in columns:
            if name not in own:
                raise UnknownNameError("column", name, own, fix=f"the first file has: {', '.join(own)}")

    def reading(self, columns: list[str] | None, *, name: str) -> list[ProcessingStage[Any, Any]]:
        """Return the stages that read the documents.

        Args:
            columns: Columns to read; all, where None.
            name: Name of the reading stage.
        """
        chosen = None if columns is None else list(dict.fromkeys(columns))
        read = ReadHeld(
            self.paths,
            file_format=self.format_name,
            columns=chosen,
            block_bytes=self.block_bytes,
            corpus_name=self.name,
            held_columns=self.held_columns,
        )
        read.typing = self._typing(chosen)
        return read.with_(name=name).decompose()

    def _typing(self, chosen: list[str] | None) -> ListTables:
        """Return the listing that finds the types of the columns that a pass reads and holds; equal passes share it."""
        columns = None
        if chosen is not None and (not self.name or self.held_columns is not None):
            columns = list(dict.fromkeys([*chosen, *(self.held_columns or ())]))
        files = ListTables(self.paths, format=self.format_name, block_bytes=self.block_bytes, columns=columns)
        shared: ListTables = self._facts.setdefault(f"typing {columns}", files)
        return shared

    def batches(self, columns: list[str]) -> Iterator[TableBatch]:
        """Yield the documents outside any pipeline; errors were reported when they were first read."""
        files, read = self.reading(columns, name="dedup.read")
        with Recording().active():
            tasks = list(cast("Iterable[FileGroupTask]", files.process(EmptyTask())))
        for task in tasks:
            with Recording().active():
                batches = list(cast("Iterable[TableBatch]", read.process(task)))
            yield from batches

    def writing(self, path: str, *, name: str) -> ProcessingStage[Any, Any]:
        """Return the stage that writes documents in the same format."""
        compression = self.compression if format_named(self.format_name).takes_compression else None
        return WriteDocuments(path, file_format=self.format_name, compression=compression).with_(name=name)  # type: ignore[arg-type]

    def _found(self) -> dict[str, Any]:
        if "format" not in self._facts:
            extensions = [each for kind in FORMATS.values() for each in kind.extensions]
            # The stage that reads them reports unreadable files.
            entries = list_files(self.paths, extensions=extensions, on_refused=lambda _: None)
            kinds = {_format_of(entry.path) for entry in entries} if self.format is None else {self.format}
            if len(kinds) != 1 or None in kinds:
                known = ", ".join(sorted(str(kind) for kind in kinds if kind is not None)) or "none that is known"
                raise ConfigError(
                    f"the files in {self.paths!r} are of several formats: {known}"
                    if len(kinds) > 1
                    else f"the format of {entries[0].path!r} is not known",
                    fix=f"name files of one format, or say which it is: {', '.join(FORMATS)}",
                )
            sizes = ((entry.size_bytes or 0) * (_EXPANSION if _is_compressed(entry.path) else 1) for entry in entries)
            facts = {"format": kinds.pop(), "compression": compression_of(entries[0].path), "bytes": sum(sizes)}
            self._facts.update(facts)
        return self._facts


@dataclass
class WriteDocuments(FileWriter):
    """Write documents in a format that is chosen when the stage is made.

    Args:
        compression: Compress whole files; for JSON lines and CSV.
        file_format: The format.
    """

    compression: Literal["gz", "zst", "bz2", "xz"] | None = field(default=None, kw_only=True)
    file_format: str = field(default="jsonl", kw_only=True)

    name = "dedup.write"
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        self.table_format = format_named(self.file_format)
        super().__post_init__()


def _format_of(path: str) -> str | None:
    return next((kind.name for kind in FORMATS.values() if path.endswith(kind.extensions)), None)


def _is_compressed(path: str) -> bool:
    return compression_of(path) is not None or path.endswith(FORMATS["parquet"].extensions)
