"""Open paths and URLs through fsspec, with errors that say which package or path is missing."""

from __future__ import annotations

import errno
import os
import posixpath
import weakref
from typing import TYPE_CHECKING, Any

from curator_core.files.local_files import irregular_kind
from curator_core.values.errors import ConfigError, DataError, MissingPackageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsspec import AbstractFileSystem

    from curator_core.authoring.tasks import FileSlice

__all__ = [
    "check_name",
    "check_regular",
    "full_url",
    "is_local",
    "is_transient",
    "names_in",
    "open_filesystem",
    "open_slice",
    "protocols",
]

_TRANSIENT_ERRNOS = frozenset(
    {errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}
)


def open_filesystem(url: str, **options: Any) -> tuple[AbstractFileSystem, str]:
    """Return the filesystem a path or URL belongs to, and the path inside it.

    >>> filesystem, path = open_filesystem("memory://corpus/a.txt")
    >>> path
    '/corpus/a.txt'

    Raises:
        MissingPackageError: The filesystem's package is not installed.
        ConfigError: The protocol is unknown.
    """
    import fsspec
    from fsspec.implementations.local import make_path_posix
    from fsspec.registry import known_implementations

    if "://" not in url:  # a plain path, in which "::" means nothing
        return fsspec.filesystem("file"), make_path_posix(url)
    protocol = url.partition("://")[0]
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        implementation = known_implementations.get(protocol.rpartition("::")[2], {}).get("class", "")
        package = implementation.partition(".")[0]
        if package in ("", "fsspec"):  # the filesystem itself is there, something below it is not
            package = getattr(error.__cause__, "name", None) or getattr(error, "name", None) or "fsspec"
        raise MissingPackageError(f"{protocol}:// in {url!r}", package=package, pip=package) from error
    except ValueError as error:
        close = nearest(protocol, known_implementations)
        hint = f"; did you mean {' or '.join(f'{each}://' for each in close)}?" if close else ""
        raise ConfigError(f"cannot open {url!r}: {error}{hint}", fix="check the part before '://'") from error
    return filesystem, str(path)


def is_local(filesystem: AbstractFileSystem) -> bool:
    """Whether paths of this filesystem are plain paths of the machine.

    >>> is_local(open_filesystem("corpus/a.txt")[0])
    True
    """
    return "file" in protocols(filesystem)


def protocols(filesystem: AbstractFileSystem) -> frozenset[str]:
    """Return what may stand before ``://`` in URLs of a filesystem; fsspec gives one name, or several."""
    protocol = filesystem.protocol
    return frozenset((protocol,) if isinstance(protocol, str) else protocol)


def names_in(folder: str) -> Iterator[str]:
    """Yield the names of what is in a folder; on this machine, without holding them all."""
    filesystem, inner = open_filesystem(folder)
    if is_local(filesystem):
        with os.scandir(inner) as entries:
            for entry in entries:
                yield entry.name
        return
    filesystem.invalidate_cache(inner)
    for path in filesystem.ls(inner, detail=False):
        yield posixpath.basename(str(path).rstrip("/"))


def full_url(filesystem: AbstractFileSystem, path: str, asked: str) -> str:
    """Return ``path`` as the user would write it: plain when local, with its protocol (and chain) otherwise.

    >>> import fsspec
    >>> full_url(fsspec.filesystem("memory"), "/a/b.jsonl", "memory://a/*")
    'memory://a/b.jsonl'
    """
    if is_local(filesystem):
        return path
    head, chained, rest = asked.partition("::")
    if chained and "://" not in head:  # simplecache::s3://bucket/key: the path belongs to what follows
        return f"{head}::{rest.partition('://')[0]}://{path.lstrip('/')}"
    suffix = f"::{rest}" if chained else ""
    protocol = head.partition("://")[0]
    if path.startswith(f"{protocol}://"):
        return path + suffix
    return f"{protocol}://{path.lstrip('/')}{suffix}"


def open_slice(piece: FileSlice, **options: Any) -> Any:
    """Open the file of a slice for reading.

    >>> import tempfile
    >>> from curator_core.sdk import FileSlice
    >>> with tempfile.NamedTemporaryFile() as written:
    ...     size = written.write(b"a line")
    ...     written.flush()
    ...     with open_slice(FileSlice(written.name)) as file:
    ...         file.read()
    b'a line'

    Raises:
        DataError: The file is not there, may not be read, or is no longer the file that was listed.
    """
    check_name(piece)
    filesystem, path = open_filesystem(piece.path, **options)
    try:
        if is_local(filesystem):
            check_regular(path, piece.path)
        file = filesystem.open(path, "rb")
    except (OSError, LookupError) as error:  # archives raise KeyError, for a link that leads out of them
        if is_transient(error):
            raise
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot open the file: {reason}", source=piece.path) from error
    if not is_local(filesystem):
        weakref.finalize(file, id, filesystem)  # an archive that is collected closes the files opened in it
    size = getattr(file, "size", None)
    if piece.file_bytes is not None and size is not None and size != piece.file_bytes:
        file.close()
        raise DataError(
            f"the file has {size:,} bytes now and had {piece.file_bytes:,} when it was listed",
            source=piece.path,
            fix="do not change input files during a run; start it again",
        )
    return file


def check_name(piece: FileSlice) -> None:
    """Refuse a file whose name is not text: neither a column nor a record could hold it."""
    try:
        piece.path.encode()
    except UnicodeEncodeError as error:
        shown = piece.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise DataError("the name of the file is not UTF-8", source=shown, fix="rename the file") from error


def check_regular(path: str, source: str) -> None:
    """Refuse a folder, a pipe, a socket or a device: opening a pipe waits for a writer, perhaps for ever."""
    kind = irregular_kind(os.stat(path).st_mode)  # noqa: PTH116 - beside fsspec's strings
    if kind is not None:
        raise DataError(f"cannot open the file: it is a {kind}", source=source, fix="name regular files")


def is_transient(error: BaseException) -> bool:
    """Whether repeating the call may help: the network or the machine failed, not the data.

    >>> is_transient(ConnectionResetError()), is_transient(FileNotFoundError())
    (True, False)
    """
    if isinstance(error, (TimeoutError, ConnectionError, MemoryError)):
        return True
    return isinstance(error, OSError) and error.errno in _TRANSIENT_ERRNOS
