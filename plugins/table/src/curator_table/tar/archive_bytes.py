"""Bytes of an archive by their offset, read once and in order: from a file, or from a stream that decompresses."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from curator_core.sdk import DataError, Decompressor, StreamError, compression_of, open_slice
from curator_table.tar.headers import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import FileSlice, Limits

__all__ = ["ArchiveBytes", "FilePart", "Part", "open_archive"]

_AHEAD_BYTES = 2**16
"""Read at a time where members are small."""
_HEADER_AHEAD_BYTES = 2**12
"""Read behind a jump: a header, and small members behind it."""
_LATER_BYTES = 2**13
"""A member of this size is not read before there is a place for it."""
_SKIP_BYTES = 2**20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Seekable(_Readable, Protocol):
    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def readinto(self, buffer: memoryview, /) -> int: ...


class FilePart:
    """Bytes of a file that have not been read yet."""

    __slots__ = ("length", "offset")

    def __init__(self, offset: int, length: int) -> None:
        self.offset = offset
        self.length = length

    def __len__(self) -> int:
        return self.length


Part = memoryview | FilePart


class ArchiveBytes:
    """A window that moves forward over an archive.

    Args:
        file: The archive, at the beginning.
        path: Its path, for messages.
        seekable: Its file, if it is not compressed: unneeded parts are skipped.
    """

    def __init__(self, file: _Readable, path: str, seekable: _Seekable | None = None) -> None:
        self._file = file
        self._path = path
        self._seekable = seekable
        self._size = seekable.seek(0, os.SEEK_END) if seekable is not None else 0
        self._start = 0
        self._window = memoryview(b"")
        self._error: StreamError | None = None

    def take(self, offset: int, size: int) -> memoryview:
        """Return ``size`` bytes at an offset, fewer at the end of the archive.

        The returned bytes stay valid. Offsets may not decrease if the archive is compressed.

        Raises:
            StreamError: The archive is compressed, and damaged before that.
        """
        begin = offset - self._start
        if begin < 0 or begin + size > len(self._window):
            self._load(offset, size)
            begin = 0
            if self._error is not None and size > len(self._window):
                raise self._error
        return self._window[begin : begin + size]

    def part(self, offset: int, size: int) -> Part:
        """Return ``size`` bytes as :meth:`take` does, or where they are: large ones of a file are read only once."""
        if size >= _LATER_BYTES and self._seekable is not None and offset + size <= self._size:
            return FilePart(offset, size)
        return self.take(offset, size)

    def read_part(self, part: Part) -> memoryview:
        """Return the bytes of a part.

        Raises:
            DataError: The file has become shorter.
        """
        if isinstance(part, memoryview):
            return part
        assert self._seekable is not None
        self._seekable.seek(part.offset)
        content = self._seekable.read(part.length)
        if len(content) < part.length:
            raise self._shorter(part)
        return memoryview(content)

    def copy_part(self, part: Part, target: memoryview) -> None:
        """Write the bytes of a part to their place.

        Raises:
            DataError: The file has become shorter.
        """
        if isinstance(part, memoryview):
            target[:] = part
            return
        assert self._seekable is not None
        self._seekable.seek(part.offset)
        done = 0
        while done < part.length:
            count = self._seekable.readinto(target[done:])
            if not count:
                raise self._shorter(part)
            done += count

    def _shorter(self, part: FilePart) -> DataError:
        return DataError("the file became shorter while it was read", source=self._path, row=part.offset)

    def _load(self, offset: int, size: int) -> None:
        position = self._start + len(self._window)
        ahead = _AHEAD_BYTES if offset <= position else _HEADER_AHEAD_BYTES
        wanted = max(size + 2 * BLOCK_BYTES, ahead)  # with the padding and the header behind it
        if self._seekable is not None:
            self._seekable.seek(offset)
            data = self._seekable.read(min(wanted, max(0, self._size - offset)))
        else:
            kept = self._window[offset - self._start :] if offset < position else memoryview(b"")
            for skipped in self._read(offset - position):
                position += len(skipped)
            data = b"".join((kept, *self._read(wanted - len(kept))))
        self._start, self._window = offset, memoryview(data)

    def _read(self, size: int) -> Iterator[bytes]:
        """Read in pieces: a damaged header may declare more than fits into memory or than the stream has.

        An error in the stream is kept for reads behind it; the bytes before it are intact.
        """
        try:
            while size > 0 and self._error is None and (data := self._file.read(min(_SKIP_BYTES, size))):
                size -= len(data)
                yield data
        except StreamError as error:
            self._error = error.apart()


@contextmanager
def open_archive(piece: FileSlice, limits: Limits) -> Iterator[ArchiveBytes]:
    """Open the archive of a slice, decompressed as its extension says.

    Raises:
        DataError: It cannot be opened, or is not the file that was listed.
    """
    with open_slice(piece) as file:
        if compression_of(piece.path) is not None:
            yield ArchiveBytes(Decompressor(file, piece.path, limits), piece.path)
        else:
            yield ArchiveBytes(file, piece.path, file)
