"""Bytes of an archive by their offset, read once and in order: from a file, or from a stream that decompresses."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from curator_core.io.compression import compression_of
from curator_core.io.decompression import Decompressor
from curator_core.io.filesystems import open_slice
from curator_core.io.tar_headers import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.io.limits import Limits
    from curator_core.tasks import FileSlice

__all__ = ["AHEAD_BYTES", "ArchiveBytes", "open_archive"]

AHEAD_BYTES = 2**16
"""Several small members. Who only looks at headers reads less."""
_SKIP_BYTES = 2**20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Seekable(_Readable, Protocol):
    def seek(self, offset: int, /) -> int: ...


class ArchiveBytes:
    """A window that moves forward over an archive.

    Args:
        file: The archive, at the beginning.
        seekable: Its file, where it is not compressed: what is not asked for is jumped over.
        ahead_bytes: How much to read at a time, at least.
    """

    def __init__(self, file: _Readable, seekable: _Seekable | None = None, *, ahead_bytes: int = AHEAD_BYTES) -> None:
        self._file = file
        self._seekable = seekable
        self._ahead_bytes = ahead_bytes
        self._start = 0
        self._window = memoryview(b"")

    def take(self, offset: int, size: int) -> memoryview:
        """Return ``size`` bytes at an offset, fewer at the end of the archive.

        What is returned stays valid. Offsets may not go back, where the archive is compressed.
        """
        begin = offset - self._start
        if begin < 0 or begin + size > len(self._window):
            self._load(offset, size)
            begin = 0
        return self._window[begin : begin + size]

    def _load(self, offset: int, size: int) -> None:
        wanted = max(size + 2 * BLOCK_BYTES, self._ahead_bytes)  # with the padding and the header behind it
        if self._seekable is not None:
            self._seekable.seek(offset)
            data = self._seekable.read(wanted)
        else:
            position = self._start + len(self._window)
            kept = self._window[offset - self._start :] if offset < position else memoryview(b"")
            while position < offset and (skipped := self._file.read(min(_SKIP_BYTES, offset - position))):
                position += len(skipped)
            data = b"".join((kept, *self._read(wanted - len(kept))))
        self._start, self._window = offset, memoryview(data)

    def _read(self, size: int) -> Iterator[bytes]:
        """Read in pieces: a damaged header may ask for more than there is memory, a stream has only what it has."""
        while size > 0 and (data := self._file.read(min(_SKIP_BYTES, size))):
            size -= len(data)
            yield data


@contextmanager
def open_archive(piece: FileSlice, limits: Limits, *, ahead_bytes: int = AHEAD_BYTES) -> Iterator[ArchiveBytes]:
    """Open the archive of a slice, decompressed as its extension says.

    Raises:
        DataError: It cannot be opened, or is not the file that was listed.
    """
    with open_slice(piece) as file:
        if compression_of(piece.path) is not None:
            yield ArchiveBytes(Decompressor(file, piece.path, limits), ahead_bytes=ahead_bytes)
        else:
            yield ArchiveBytes(file, file, ahead_bytes=ahead_bytes)
