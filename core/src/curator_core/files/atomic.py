"""Write files that are either whole or not there at all."""

from __future__ import annotations

import os
import posixpath
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from curator_core.files.faults import fault_point, is_hooked
from curator_core.files.filesystems import is_local, is_transient, open_filesystem, protocols
from curator_core.values.errors import OutputError, StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsspec import AbstractFileSystem

__all__ = ["atomic_output", "guard_commits", "make_folder", "sync_folder", "torn_name"]

_ONE_REQUEST_BYTES = 64 * 2**20
_TEMPORARY = ".tmp-"
_RENAMING_PROTOCOLS = frozenset({"sftp", "ssh", "hdfs", "arrow_hdfs", "webhdfs", "smb", "ftp", "dbfs"})
"""Filesystems on which an upload becomes visible while it grows; on object stores it appears when it is complete."""

_check: Callable[[], None] | None = None


@contextmanager
def atomic_output(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when the block ends without an error.

    Local: written under a hidden name in the same folder, synced, renamed, and the folder synced. Remote: uploaded in
    one piece at the end. After an error nothing is visible and no temporary file remains.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_output(f"{folder}/a.txt") as file:
    ...         size = file.write(b"all of it, or nothing")
    ...     Path(folder, "a.txt").read_bytes()
    b'all of it, or nothing'

    Raises:
        OutputError: The file cannot be written (disk full, no permission, no such bucket).
    """
    filesystem, inner = open_filesystem(path)
    output = _local_output(Path(inner)) if is_local(filesystem) else _remote_output(filesystem, inner)
    try:
        with output as file:
            yield file
    except OSError as error:
        if is_transient(error):
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise OutputError(
            f"cannot write {path!r}: {reason}; nothing was left behind",
            fix="check free space, permissions and the output path",
        ) from error


def guard_commits(check: Callable[[], None] | None) -> None:
    """Call a function in this process before any file appears under its name; what it raises keeps the file away."""
    global _check  # noqa: PLW0603 - one for the process: whether it may write depends on nothing else
    _check = check


def _check_commit() -> None:
    if _check is not None:
        _check()


def make_folder(path: str) -> None:
    """Create an output folder where the filesystem has folders; buckets and prefixes need none.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     make_folder(f"{folder}/deep/down")
    ...     Path(folder, "deep/down").is_dir()
    True
    """
    filesystem, inner = open_filesystem(path)
    try:
        filesystem.makedirs(inner, exist_ok=True)
    except OSError as error:
        raise StageError(
            f"cannot create the output folder {path!r}: {error.strerror or error}",
            fix="check the path and your permissions",
        ) from error


def torn_name(name: str) -> str:
    """Return the name that a temporary file was to get, or nothing if it is no temporary file.

    >>> torn_name(".part-3f2a.jsonl.tmp-17-beef"), torn_name("part-3f2a.jsonl")
    ('part-3f2a.jsonl', '')
    """
    return name[1:].partition(_TEMPORARY)[0] if name.startswith(".") and _TEMPORARY in name else ""


def _hidden_name(name: str) -> str:
    """Return the name to write under first: of this process only, and recognisable when it is left behind."""
    return f".{name}{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}"


@contextmanager
def _local_output(target: Path) -> Iterator[BinaryIO]:
    hidden = target.with_name(_hidden_name(target.name))
    try:
        fault_point("commit.begin")
        with hidden.open("wb") as file:
            yield cast("BinaryIO", _HalfWay(file)) if is_hooked() else file
            file.flush()
            fault_point("commit.written")
            os.fsync(file.fileno())
        fault_point("commit.synced")
        _check_commit()
        hidden.replace(target)
        fault_point("commit.renamed")
        sync_folder(target.parent)
        fault_point("commit.folder_synced")
    except BaseException:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        raise


class _HalfWay:
    """A file that comes to a fault point in the middle of its first write."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._is_begun = False

    def write(self, data: bytes) -> int:
        if self._is_begun or len(data) < 2:  # noqa: PLR2004 - a single byte has no middle
            return self._file.write(data)
        self._is_begun = True
        view = memoryview(data)
        half = len(view) // 2
        self._file.write(view[:half])
        self._file.flush()
        fault_point("commit.half_written")
        return half + self._file.write(view[half:])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the operating system can open folders."""
    with suppress(PermissionError, IsADirectoryError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _remote_output(filesystem: AbstractFileSystem, path: str) -> Iterator[BinaryIO]:
    with tempfile.TemporaryDirectory(prefix="curator-upload-") as folder:
        local = Path(folder) / "output"
        fault_point("commit.begin")
        with local.open("wb") as file:
            yield cast("BinaryIO", _HalfWay(file)) if is_hooked() else file
        fault_point("commit.written")
        _check_commit()
        if not protocols(filesystem) & _RENAMING_PROTOCOLS:
            _upload(filesystem, local, path)
            fault_point("commit.renamed")
            return
        parent, name = posixpath.split(path)
        hidden = posixpath.join(parent, _hidden_name(name))
        try:
            _upload(filesystem, local, hidden)
            _check_commit()
            filesystem.mv(hidden, path)
            fault_point("commit.renamed")
        except BaseException:
            with suppress(OSError):
                filesystem.rm(hidden)
            raise


def _upload(filesystem: AbstractFileSystem, local: Path, path: str) -> None:
    if local.stat().st_size <= _ONE_REQUEST_BYTES:
        filesystem.pipe_file(path, local.read_bytes())
    else:
        filesystem.put_file(str(local), path)
