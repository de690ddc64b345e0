"""Write files that are either whole or not there at all."""

from __future__ import annotations

import os
import posixpath
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from curator_core.errors import StageError
from curator_core.io.filesystems import is_local, is_transient, open_filesystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsspec import AbstractFileSystem

__all__ = ["atomic_output", "make_folder"]

_ONE_REQUEST_BYTES = 64 * 2**20
_RENAMING_PROTOCOLS = frozenset({"sftp", "ssh", "hdfs", "arrow_hdfs", "webhdfs", "smb", "ftp", "dbfs"})
"""Filesystems on which an upload becomes visible while it grows; on object stores it appears when it is complete."""


@contextmanager
def atomic_output(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when the block ends without an error.

    Local: written under a hidden name in the same folder, synced, renamed, and the folder synced. Remote: uploaded in
    one piece at the end. After an error nothing is visible and no temporary file remains.

    Raises:
        StageError: The file cannot be written (disk full, no permission, no such bucket).
    """
    filesystem, inner = open_filesystem(path)
    try:
        if is_local(filesystem):
            with _local_output(Path(inner)) as file:
                yield file
        else:
            with _remote_output(filesystem, inner) as file:
                yield file
    except OSError as error:
        if is_transient(error):
            raise
        reason = error.strerror or str(error)
        raise StageError(
            f"cannot write {path!r}: {reason}; nothing was left behind",
            fix="check free space, permissions and the output path",
        ) from error


def make_folder(path: str) -> None:
    """Create an output folder where the filesystem has folders; buckets and prefixes need none."""
    filesystem, inner = open_filesystem(path)
    try:
        filesystem.makedirs(inner, exist_ok=True)
    except OSError as error:
        raise StageError(
            f"cannot create the output folder {path!r}: {error.strerror or error}",
            fix="check the path and your permissions",
        ) from error


@contextmanager
def _local_output(target: Path) -> Iterator[BinaryIO]:
    hidden = target.with_name(f".{target.name}.tmp-{os.getpid()}-{threading.get_ident()}")
    try:
        with hidden.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(target)
        _sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the operating system can open folders."""
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
        with local.open("wb") as file:
            yield file
        if not _protocols(filesystem) & _RENAMING_PROTOCOLS:
            _upload(filesystem, local, path)
            return
        parent, name = posixpath.split(path)
        hidden = posixpath.join(parent, f".{name}.tmp-{os.getpid()}-{threading.get_ident()}")
        try:
            _upload(filesystem, local, hidden)
            filesystem.mv(hidden, path)
        except BaseException:
            with suppress(OSError):
                filesystem.rm(hidden)
            raise


def _protocols(filesystem: AbstractFileSystem) -> set[str]:
    protocol = filesystem.protocol
    return {protocol} if isinstance(protocol, str) else set(protocol)


def _upload(filesystem: AbstractFileSystem, local: Path, path: str) -> None:
    if local.stat().st_size <= _ONE_REQUEST_BYTES:
        filesystem.pipe_file(path, local.read_bytes())
    else:
        filesystem.put_file(str(local), path)
