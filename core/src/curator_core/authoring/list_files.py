"""The stage that lists input files and cuts them into units of work."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from curator_core.authoring.file_keys import keys_of_files
from curator_core.authoring.recording import IGNORED, BadRecord, Recording, report
from curator_core.authoring.splitting import plan_slices
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import EmptyTask, FileGroupTask
from curator_core.files.compression import compression_of
from curator_core.files.limits import DEFAULT_BLOCK_BYTES
from curator_core.files.paths import list_files
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.authoring.tasks import FileSlice
    from curator_core.files.local_files import FoundFile
    from curator_core.files.paths import FileEntry
    from curator_core.values.errors import DataError

__all__ = ["ListFiles", "listing_of", "report_refused", "report_unreadable"]

ListT = TypeVar("ListT", bound="ListFiles")


@dataclass
class ListFiles(ProcessingStage[EmptyTask, FileGroupTask]):
    """List files and yield units of work of about ``block_bytes``: small files together, large ones in pieces.

    It takes files as they are. A subclass that knows what is in them says where they may be cut (:meth:`plan`), by
    which extensions they are found (:attr:`looked_for`), and which columns they have (:meth:`preflight`).

    >>> ListFiles("corpus", extensions=[".log"], block_bytes=2**20).looked_for
    ['.log']

    Args:
        paths: Files, folders, globs or URLs.
        extensions: Extensions looked for in folders; any, where None.
        block_bytes: Size of a unit of work.
        limit_files: Take only the first so many files.
        splittable: Cut large files at any byte, unless they are compressed.
        follow_links: Follow links that lead out of their folder; otherwise they are quarantined.
        with_keys: Give every file a key (:func:`~curator_core.authoring.file_keys.keys_of_files`).
    """

    paths: str | list[str]
    extensions: list[str] | None = field(default=None, kw_only=True)
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    splittable: bool = field(default=False, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    with_keys: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.block_bytes <= 0:
            raise ConfigError(f"stage {self.name!r}: block_bytes must be positive, got {self.block_bytes}")

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:
        """Yield the units of work lazily, in the order of the files."""
        for pieces in self.plan(self.files()):
            yield FileGroupTask(data=pieces, dataset_name=task.dataset_name)

    def plan(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileSlice, ...]]:
        """Cut files into units of work, lazily and in their order."""
        return plan_slices(entries, block_bytes=self.block_bytes, splittable=self._is_splittable)

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

    def files_before_run(self) -> list[FileEntry]:
        """List the files while a pipeline is checked; the run itself reports those that must not be read."""
        with Recording().active():
            return self.files()

    @property
    def looked_for(self) -> list[str] | None:
        """Extensions looked for in folders; any, where None."""
        return self.extensions

    def _is_splittable(self, entry: FileEntry) -> bool:
        return self.splittable and compression_of(entry.path) is None

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something.

        Raises:
            ConfigError: A path matches nothing.
        """
        self.files_before_run()
        return None

    def find_types(self) -> pa.Schema | None:
        """Return the types of the columns in all files; None where a look at them does not tell."""
        return None


def listing_of(reader: ProcessingStage[Any, Any], listing: type[ListT], **values: Any) -> ListT:
    """Return the stage that lists the files of a reader: with its parameters, where no other values are given."""
    return listing(**{**reader.values_for(listing), **values}).with_(name=f"{reader.name}.files")


def report_refused(file: FoundFile) -> None:
    """Report a file that was found and must not be read, for quarantine.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from curator_core.sdk import Recording, list_files
    >>> with tempfile.TemporaryDirectory() as folder, Recording().active() as recording:
    ...     Path(folder, "a.txt").touch()
    ...     Path(folder, "b.txt").symlink_to("/etc/hostname")  # leads out of the folder
    ...     files = list_files(folder, on_refused=report_refused)
    >>> len(files), recording.bad_records[0].error_type
    (1, 'UnreadableFile')
    """
    report().bad_record(BadRecord(file.reason, source=file.path, row=0, error_type="UnreadableFile"))


def report_unreadable(piece: FileSlice, error: DataError) -> None:
    """Report a file that cannot be read, for quarantine."""
    source = error.source or piece.path
    message = error.message.removeprefix(f"{source}: ")
    report().bad_record(BadRecord(message, source, error.row or 0, error_type="UnreadableFile"))
