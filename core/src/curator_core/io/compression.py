"""Compressed files by extension: streams that decompress with bounded memory, and streams that compress."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from curator_core.errors import DataError
from curator_core.io.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMPRESSED_EXTENSIONS", "Decompressor", "compression_of", "open_compressed"]

Compression = Literal["gzip", "zstd", "bz2", "xz"]

COMPRESSED_EXTENSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}

_INPUT_BYTES = 2**16
_GZIP_WBITS = 31  # gzip header and trailer, largest window
_GZIP_LEVEL = 6  # Arrow's default of 9 is several times slower for one or two per cent
_XZ_PRESET = 3
_DECODE_ERRORS = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)


def compression_of(path: str) -> Compression | None:
    """Return the compression that a file's extension stands for.

    >>> compression_of("a.jsonl.zst"), compression_of("a.jsonl")
    ('zstd', None)
    """
    name = path.partition("::")[0].lower()
    return next((kind for extension, kind in COMPRESSED_EXTENSIONS.items() if name.endswith(extension)), None)


def open_compressed(file: BinaryIO, path: str) -> BinaryIO:
    """Return a stream that compresses into ``file`` as the extension of ``path`` says; ``file`` stays open.

    The same input gives the same bytes: no time stamp or name is stored.
    """
    kind = compression_of(path)
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0))
    if kind == "bz2":
        return cast("BinaryIO", bz2.BZ2File(file, "wb"))
    if kind == "xz":
        return cast("BinaryIO", lzma.LZMAFile(file, "wb", preset=_XZ_PRESET, check=lzma.CHECK_CRC64))
    if kind == "zstd":
        import pyarrow as pa

        # Arrow closes the sink it was given with the stream; the caller still has to sync and rename the file.
        return cast("BinaryIO", pa.CompressedOutputStream(pa.PythonFile(_KeepOpen(file), mode="w"), "zstd"))
    return cast("BinaryIO", _KeepOpen(file))


class _KeepOpen(io.RawIOBase):
    """Forward writes; closing leaves the file below open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


class Decompressor:
    """A readable stream over a compressed file that gives out every byte decoded before a tear, then raises.

    Files made of several members or frames are read through. Memory is bounded by the size of one read.

    Args:
        file: The compressed file, open for reading.
        path: Its path; the extension names the compression.
        limits: Caps on the expansion.
    """

    def __init__(self, file: BinaryIO, path: str, limits: Limits | None = None) -> None:
        self.path = path
        self._limits = limits or Limits()
        self._file = _Counted(file)
        kind = compression_of(path)
        assert kind is not None, path
        decoder = _ZstdDecoder if kind == "zstd" else _StdlibDecoder
        self._decoder = decoder(self._file, kind)
        self._given = 0

    def read(self, size: int) -> bytes:
        """Return up to ``size`` decompressed bytes; none at the end of the file.

        Raises:
            DataError: The file is torn or corrupt, or expands beyond the limits.
        """
        try:
            data = self._decoder.read(size)
        except _DECODE_ERRORS as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the file below failed, not its content
            raise DataError(
                f"torn or corrupt {compression_of(self.path)} data after {self._given:,} decompressed bytes ({error})",
                source=self.path,
                fix="the records before it are in the output; fetch the file again for the rest",
            ) from error
        self._given += len(data)
        allowed = max(self._limits.expansion_floor_bytes, self._limits.max_expansion * self._file.consumed)
        if self._given > allowed:
            raise DataError(
                f"{self._file.consumed:,} compressed bytes expand to more than {allowed:,}: a decompression bomb?",
                source=self.path,
                fix="raise Limits.max_expansion if the file is genuine",
            )
        return data


class _Counted:
    """Count the compressed bytes taken from a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.consumed = 0
        self.closed = False

    def read(self, size: int = _INPUT_BYTES) -> bytes:
        data = self._file.read(size)
        self.consumed += len(data)
        return data

    def rewind(self) -> None:
        self._file.seek(0)
        self.consumed = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the file below open: whoever opened it closes it."""


class _StdlibDecoder:
    """Decode gzip, bz2 and xz members one after the other."""

    def __init__(self, file: _Counted, kind: Compression) -> None:
        self._file = file
        self._kind = kind
        self._member: Any = None
        self._input = b""
        self._members = 0

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        missing = size
        while missing > 0:
            try:
                data = self._read_some(missing)
            except _DECODE_ERRORS:
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
            if not self._input and self._needs_input():
                self._input = self._file.read()
            at_end = not self._input
            data = self._decode(size)
            if at_end and not data and not self._member.eof:
                raise EOFError("the file ends in the middle of compressed data")
            if self._member.eof:
                self._input = self._member.unused_data
                self._member = None
            if data:
                return data

    def _next_member(self) -> bool:
        self._input = self._input or self._file.read()
        # Padding with zeros after the last member is common on tapes and in block-wise copies.
        while self._members and self._input and not self._input.strip(b"\0"):
            self._input = self._file.read()
        if not self._input:
            return False
        self._members += 1
        self._member = _NEW_MEMBER[self._kind]()
        return True

    def _needs_input(self) -> bool:
        return getattr(self._member, "needs_input", True)

    def _decode(self, size: int) -> bytes:
        if self._kind == "gzip":
            data: bytes = self._member.decompress(self._input, size)
            self._input = self._member.unconsumed_tail
            return data
        pending, self._input = self._input, b""
        return cast("bytes", self._member.decompress(pending, size))


_NEW_MEMBER: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(_GZIP_WBITS),
    "bz2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}


class _ZstdDecoder:
    """Decode zstd frames with Arrow, which drops what it had decoded in a read that fails; so such a read is redone."""

    def __init__(self, file: _Counted, kind: Compression) -> None:
        self._file = file
        self._kind = kind
        self._stream = self._open()
        self._given = 0
        self._error: OSError | None = None

    def _open(self) -> Any:
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(self._file, mode="r"), self._kind)

    def read(self, size: int) -> bytes:
        if self._error is not None:
            raise self._error
        parts: list[bytes] = []
        missing = size
        while missing > 0:
            try:
                data: bytes = self._stream.read(min(missing, _INPUT_BYTES))
            except OSError as error:
                if error.errno is not None:
                    raise
                self._error = error
                data = self._bytes_before_tear()
                if not data and not parts:
                    raise
                parts.append(data)
                break
            if not data:
                break
            self._given += len(data)
            missing -= len(data)
            parts.append(data)
        return b"".join(parts)

    def _bytes_before_tear(self) -> bytes:
        """Decode again up to the last whole read, then byte by byte."""
        self._file.rewind()
        stream = self._open()
        missing = self._given
        while missing > 0:
            missing -= len(stream.read(min(missing, _INPUT_BYTES)))
        found = bytearray()
        try:
            while byte := stream.read(1):
                found += byte
        except OSError:
            pass  # the same tear, now with everything before it in hand
        return bytes(found)
