"""The stage that lists input files and cuts them into units of work."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.authoring.file_keys import keys_of_files
from curator_core.authoring.splitting import plan_slices
from curator_core.errors import ConfigError, UnknownNameError
from curator_core.files.compression import compression_of
from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.files.paths import list_files
from curator_core.io.formats import format_named
from curator_core.recording import IGNORED, BadRecord, Recording, report
from curator_core.stage import ProcessingStage
from curator_core.tasks import ROW_COLUMN, SOURCE_COLUMN, EmptyTask, FileGroupTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.files.paths import FileEntry, RefusedFile

__all__ = ["ListFiles", "files_before_run", "report_refused"]

_FIXED_SCHEMA = frozenset({"parquet", "arrow", "csv"})


@dataclass
class ListFiles(ProcessingStage[EmptyTask, FileGroupTask]):
    """List files and yield units of work of about ``block_bytes``: small files together, large ones in pieces.

    Args:
        paths: Files, folders, globs or URLs.
        format: Table format, which gives the extensions looked for in folders and says how a file may be cut. None
            takes files as they are, whole.
        extensions: Extensions looked for in folders, in place of those of the format.
        block_bytes: Size of a unit of work.
        limit_files: Take only the first so many files.
        splittable: Cut large files without a format at any byte, unless they are compressed.
        columns: Columns that will be read, checked against the files before the run.
        follow_links: Follow links that lead out of their folder; otherwise they are quarantined.
        with_keys: Give every file a key (:func:`~curator_core.authoring.file_keys.keys_of_files`).
        schema: Types of columns, where they are not to be found out by a look at the files.
        max_columns: Most columns of a table, nested fields included.
    """

    paths: str | list[str]
    format: str | None = field(default=None, kw_only=True)
    extensions: list[str] | None = field(default=None, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    splittable: bool = field(default=False, kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    with_keys: bool = field(default=False, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)

    def __post_init__(self) -> None:
        if self.format is not None:
            format_named(self.format)
        if self.block_bytes <= 0:
            raise ConfigError(f"stage {self.name!r}: block_bytes must be positive, got {self.block_bytes}")

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:
        """Yield the units of work lazily, in the order of the files."""
        entries = self.files()
        plan = (
            plan_slices(entries, block_bytes=self.block_bytes, splittable=self._is_splittable)
            if self.format is None
            else format_named(self.format).plan(entries, block_bytes=self.block_bytes)
        )
        for pieces in plan:
            yield FileGroupTask(data=pieces, dataset_name=task.dataset_name)

    def files(self) -> list[FileEntry]:
        """List the files; what must not be read is reported for quarantine, what has another extension is counted.

        Raises:
            ConfigError: A path matches nothing.
        """
        ignored: Counter[str] = Counter()
        files = list_files(
            self.paths,
            extensions=self.looked_for,
            follow_links=self.follow_links,
            on_refused=report_refused,
            on_ignored=lambda path: ignored.update([posixpath.splitext(path)[1].lower() or "no extension"]),
        )
        report().count(**{f"{IGNORED}{extension}": count for extension, count in ignored.items()})
        if self.with_keys:  # before the rest is left out, so that they do not depend on it
            files = [replace(entry, key=key) for entry, key in zip(files, keys_of_files(files), strict=True)]
        return files[: self.limit_files]

    @property
    def looked_for(self) -> list[str] | None:
        """Extensions looked for in folders; any, where None."""
        if self.extensions is None and self.format is not None:
            return list(format_named(self.format).extensions)
        return self.extensions

    def _is_splittable(self, entry: FileEntry) -> bool:
        return self.splittable and compression_of(entry.path) is None

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something, and find the columns.

        Raises:
            ConfigError: A path matches nothing, or columns have types that do not go together.
            UnknownNameError: A column asked for is in none of the files, whose schema is fixed.
        """
        files = files_before_run(self)
        if self.format is None:
            return None
        types = self.find_types(files)
        if self.columns is None:
            return None if types is None else [*_names_in_table(types.names), SOURCE_COLUMN, ROW_COLUMN]
        if types is not None and self.format in _FIXED_SCHEMA:
            self._check_columns(types.names, files[0])
        return [*(name for name in self.columns if name not in (SOURCE_COLUMN, ROW_COLUMN)), SOURCE_COLUMN, ROW_COLUMN]

    def find_types(self, files: Sequence[FileEntry] | None = None) -> pa.Schema | None:
        """Return the types of the columns as a look at the files finds them; None where no file can be read.

        Args:
            files: The files, where they are known.
        """
        from curator_core.io.column_types import find_types

        if not hasattr(self, "_types"):
            assert self.format is not None
            files = files_before_run(self) if files is None else files
            limits = Limits(max_columns=self.max_columns)
            self._types = find_types(files, self.format, limits=limits, columns=self.columns, declared=self.schema)
        return self._types

    def _check_columns(self, found: Sequence[str], first: FileEntry) -> None:
        for name in self.columns or ():
            if name not in (*found, SOURCE_COLUMN, ROW_COLUMN):
                from curator_core.io.column_types import find_types

                types = find_types([first], str(self.format), limits=Limits(max_columns=self.max_columns))
                there = found if types is None else types.names
                raise UnknownNameError(f"column of {first.path}:", name, there, fix=f"the file has: {', '.join(there)}")


def _names_in_table(names: Sequence[str]) -> list[str]:
    from curator_core.authoring.provenance import own_name

    return [own_name(name, taken=names) for name in names]


def files_before_run(listing: ListFiles) -> list[FileEntry]:
    """List the files while a pipeline is checked; the run itself reports those that must not be read."""
    with Recording().active():
        return listing.files()


def report_refused(file: RefusedFile) -> None:
    """Report a file that was found and must not be read, for quarantine."""
    report().bad_record(BadRecord(file.reason, source=file.path, row=0, error_type="UnreadableFile"))
