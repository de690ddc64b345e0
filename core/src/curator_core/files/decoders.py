"""Decode compressed data, member after member, with memory bounded by the size of one read."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from curator_core.files.compression import zstd_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.files.compression import Compression

__all__ = ["MemberDecoder", "decode_errors"]

_INPUT_BYTES = 2**16
_GZIP_WBITS = 31  # gzip header and trailer, largest window
_XZ_MEMORY_BYTES = 192 * 2**20  # the strongest preset needs 65 MiB; a header can ask for 4 GiB


class MemberDecoder:
    """Decode gzip members, zstd frames, bz2 or xz streams one after the other.

    A read that meets damage gives out what was decoded before it; the next one raises.
    """

    def __init__(self, file: BinaryIO, kind: Compression) -> None:
        self.consumed = 0
        """Compressed bytes read so far."""
        self.given = 0
        """Decompressed bytes given out so far."""
        self.checked = 0
        """Those of them that belong to members whose end, and with it their checksum, has been reached."""
        self._file = file
        self._kind = kind
        self._new_member = _NEW_MEMBER[kind]
        self._member: Any = None
        self._input = b""
        self._members = 0

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end of the file.

        Raises:
            EOFError: The file ends in the middle of a member.
            Exception: One of :func:`decode_errors`: the data is corrupt.
        """
        parts: list[bytes] = []
        missing = size
        while missing > 0:
            try:
                data = self._read_some(missing)
            except decode_errors():
                if parts:  # give out what was decoded; the next call meets the same error
                    break
                raise
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        while True:
            if self._member is None and not self._next_member():
                return b""
            at_end = False
            if not self._input and getattr(self._member, "needs_input", True):
                self._input = self._read_input()
                at_end = not self._input
            data = self._decode(size)
            if at_end and not data and not self._member.eof:
                raise EOFError("the file ends in the middle of compressed data")
            self.given += len(data)
            if self._member.eof:
                self.checked = self.given
                self._input = self._member.unused_data
                self._member = None
            if data:
                return data

    def _next_member(self) -> bool:
        self._input = self._input or self._read_input()
        if not self._input and not self._members:
            raise EOFError("the file is empty")  # compressed nothing has at least a header
        # Padding with zeros after the last member is common on tapes and in block-wise copies.
        while self._members and self._input and not self._input.strip(b"\0"):
            self._input = self._read_input()
        if not self._input:
            return False
        self._members += 1
        self._member = self._new_member()
        return True

    def _read_input(self) -> bytes:
        data = self._file.read(_INPUT_BYTES)
        self.consumed += len(data)
        return data

    def _decode(self, size: int) -> bytes:
        if self._kind == "gzip":
            data: bytes = self._member.decompress(self._input, size)
            self._input = self._member.unconsumed_tail
            return data
        pending, self._input = self._input, b""
        return cast("bytes", self._member.decompress(pending, size))


def decode_errors() -> tuple[type[Exception], ...]:
    """Return what the decoders raise on damaged data; errors of the file below have an ``errno``.

    >>> EOFError in decode_errors()
    True
    """
    return (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, zstd_module().ZstdError)


_NEW_MEMBER: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(_GZIP_WBITS),
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES),
    "zstd": lambda: zstd_module().ZstdDecompressor(),
}
