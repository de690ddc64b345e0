"""Checksums for formats that lack them: a table of CRCs in front of the footer, where other readers do not look.

Parquet's page checksums leave out page headers and the footer, and Arrow files have none at all, so a flipped bit can
read as wrong data without an error. Both formats end in a footer that is found from the end of the file and names
absolute positions in the data before it. Readers skip the bytes between the two, so a seal fits there::

    data | CRC of each 64 KiB of it | size of the data | CRC of footer and seal | mark | footer | its length | magic

A :class:`SealedFile` checks each block when it is first read, so a projection pays only for the columns it reads.
"""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

__all__ = ["ARROW_FOOTER", "PARQUET_FOOTER", "SEAL_KEY", "FooterShape", "SealedFile", "SealingFile", "check_seal"]

SEAL_KEY = b"curator.sealed"
"""Key in the schema's metadata of a sealed file: it tells a lost seal from a file that never had one."""

_BLOCK_BYTES = 2**16
_MARK = b"CURSEAL1"
_LAST_BYTES = 16  # enough for length and magic
_END = struct.Struct("<QQ8s")  # size of the data, CRC, mark: the seal stays a multiple of eight bytes, as Arrow likes


@dataclass(frozen=True, slots=True)
class FooterShape:
    """How a format ends: the footer, its length in four bytes, a magic word."""

    magic: bytes

    def start(self, end: bytes, size: int) -> int | None:
        """Return where the footer of a file starts.

        Args:
            end: The last bytes of the file.
            size: Its size.
        """
        tail = 4 + len(self.magic)
        if len(end) < tail or not end.endswith(self.magic):
            return None
        start = size - tail - int.from_bytes(end[-tail : len(end) - len(self.magic)], "little")
        return start if start >= 0 else None


PARQUET_FOOTER = FooterShape(b"PAR1")
ARROW_FOOTER = FooterShape(b"ARROW1")


class SealingFile(io.RawIOBase):
    """Write through to a file, computing the seal; the footer goes in with :meth:`finish`.

    Args:
        file: The file below; stays open.
        shape: How the format ends.
    """

    def __init__(self, file: BinaryIO, shape: FooterShape) -> None:
        self._file = file
        self._shape = shape
        self._sums = _BlockSums()
        self._footer: bytearray | None = None
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = memoryview(data).cast("B")
        self._position += len(data)
        if self._footer is None:
            self._put(data)
        else:
            self._footer += data
        return len(data)

    def tell(self) -> int:
        return self._position

    def begin_footer(self) -> None:
        """Hold back all further writes, which end with the footer."""
        self._footer = bytearray()

    def finish(self) -> None:
        """Write the seal and the footer."""
        assert self._footer is not None
        held = bytes(self._footer)
        start = self._shape.start(held, len(held))
        assert start is not None, "the writer has not written its footer"
        self._put(memoryview(held)[:start])
        table = self._sums.table()
        checksum = zlib.crc32(held[start:], zlib.crc32(table + struct.pack("<Q", self._sums.size)))
        self._file.write(table + _END.pack(self._sums.size, checksum, _MARK) + held[start:])

    def _put(self, data: memoryview) -> None:
        self._sums.add(data)
        self._file.write(data)


class SealedFile(io.RawIOBase):
    """Read a file whose every byte is checked before it is given out. Without a seal, reads pass through.

    Args:
        file: The file below; stays open.
        shape: How the format ends.
        path: Its path, for messages.

    Raises:
        DataError: There is a seal, and the footer is not the one that was sealed.
    """

    def __init__(self, file: Any, shape: FooterShape, path: str) -> None:
        self._file = file
        self._path = path
        self._position = 0
        self._size = file.seek(0, io.SEEK_END)
        self.is_sealed = False
        self._sums: tuple[int, ...] = ()
        self._data_bytes = 0
        self._checked: set[int] = set()
        self._read_seal(shape)

    @property
    def size_bytes(self) -> int:
        """Size of the file, seal included."""
        return int(self._size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        """Return up to ``size`` bytes.

        Raises:
            DataError: They are not the bytes that were sealed.
        """
        stop = self._size if size is None or size < 0 else min(self._size, self._position + size)
        start, self._position = self._position, max(self._position, stop)
        if start >= stop:
            return b""
        first = start // _BLOCK_BYTES
        last = -(-min(stop, self._data_bytes) // _BLOCK_BYTES)
        if stop > self._data_bytes:
            # The footer, which has been checked. Readers guess where it starts and take a piece of the data with it,
            # which they do not use: were it checked here, damage there would cost the whole file.
            last = first
        if self._checked.issuperset(range(first, last)):
            return self._read_below(start, stop)
        begin = first * _BLOCK_BYTES
        data = self._read_below(begin, max(stop, min(last * _BLOCK_BYTES, self._data_bytes)))
        for block in range(first, last):
            self._check(block, memoryview(data)[block * _BLOCK_BYTES - begin :])
        return data[start - begin : stop - begin]

    def _check(self, block: int, data: memoryview) -> None:
        position = block * _BLOCK_BYTES
        content = data[: min(_BLOCK_BYTES, self._data_bytes - position)]
        if block not in self._checked and zlib.crc32(content) != self._sums[block]:
            raise DataError(f"checksum mismatch in bytes {position:,} to {position + len(content) - 1:,}")
        self._checked.add(block)

    def _read_seal(self, shape: FooterShape) -> None:
        end = self._read_below(max(0, self._size - _LAST_BYTES), self._size)
        footer = shape.start(end, self._size)
        if footer is None or footer < _END.size:
            return
        data_bytes, checksum, mark = _END.unpack(self._read_below(footer - _END.size, footer))
        if mark != _MARK:
            return
        blocks = -(-data_bytes // _BLOCK_BYTES)
        table_bytes = blocks * 4 + blocks % 2 * 4
        if data_bytes + table_bytes + _END.size != footer:
            raise DataError("bytes were lost or added: the checksums of the file do not fit it", source=self._path)
        sealed = self._read_below(data_bytes, data_bytes + table_bytes + 8)
        if zlib.crc32(self._read_below(footer, self._size), zlib.crc32(sealed)) != checksum:
            raise DataError("the footer is corrupt: it is not the one that was written", source=self._path)
        self.is_sealed = True
        self._data_bytes = data_bytes
        self._sums = struct.unpack_from(f"<{blocks}I", sealed)

    def _read_below(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        data: bytes = self._file.read(stop - start)
        return data


def check_seal(file: SealedFile, metadata: Mapping[bytes, bytes] | None, path: str) -> None:
    """Refuse a file that was written with a seal and has lost it.

    Args:
        file: The file.
        metadata: The metadata of its schema.
        path: Its path.

    Raises:
        DataError: The seal is gone.
    """
    if SEAL_KEY in (metadata or {}) and not file.is_sealed:
        raise DataError("the file is corrupt: the checksums it was written with are gone", source=path)


class _BlockSums:
    """CRCs of the blocks of a growing file."""

    def __init__(self) -> None:
        self.size = 0
        self._whole: list[int] = []
        self._last = 0

    def add(self, data: memoryview) -> None:
        while len(data):
            room = _BLOCK_BYTES - self.size % _BLOCK_BYTES
            self._last = zlib.crc32(data[:room], self._last)
            self.size += len(data[:room])
            data = data[room:]
            if self.size % _BLOCK_BYTES == 0:
                self._whole.append(self._last)
                self._last = 0

    def table(self) -> bytes:
        """Return the CRCs, padded to a multiple of eight bytes."""
        sums = self._whole + ([self._last] if self.size % _BLOCK_BYTES else [])
        return struct.pack(f"<{len(sums)}I{len(sums) % 2 * 4}x", *sums)
