"""Read the lines that belong to a slice of a file, in blocks of whole lines.

A line belongs to the slice in which its first byte lies, so that slices of any sizes give every line exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from curator_core.sdk import BadRecord, Decompressor, ListedSize, StreamError, compression_of, open_slice, report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import FileSlice, Limits

__all__ = ["PAYLOAD_BYTES", "Block", "line_blocks", "too_long"]

PAYLOAD_BYTES = 256
"""How much of a bad record is kept to show."""

_TAIL_BYTES = 2**16  # read at a time when looking for the end of one line


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file, and where the first of them starts."""

    data: bytes
    offset: int


def too_long(limits: Limits) -> str:
    """Describe a record beyond the limit."""
    return f"the record is longer than {limits.max_record_bytes:,} bytes; raise max_record_bytes if it is genuine"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def line_blocks(piece: FileSlice, *, block_bytes: int, limits: Limits) -> Iterator[Block]:
    """Yield the lines of a slice in blocks of about ``block_bytes``.

    A line longer than ``limits.max_record_bytes`` is reported as a bad record and skipped without being held. Where a
    compressed file is damaged, the whole lines that :class:`Decompressor` trusts come out and the damage is reported.
    """
    with open_slice(piece) as file:
        if compression_of(piece.path) is not None:
            lines = _Lines(Decompressor(file, piece.path, limits), piece.path, limits, offset=0)
        elif piece.start == 0:
            lines = _Lines(_SliceBytes(ListedSize(file, piece), 0, piece.end), piece.path, limits, offset=0)
        else:
            before = piece.start - 1  # a newline there means that a line starts exactly at the slice
            file.seek(before)
            lines = _Lines(
                _SliceBytes(ListedSize(file, piece, before), before, piece.end), piece.path, limits, offset=before
            )
            lines.skip_line()
        yield from lines.blocks(block_bytes)


class _SliceBytes:
    """The bytes of the lines that start inside a slice: a stream that ends with the line under way at its end."""

    def __init__(self, file: _Readable, position: int, end: int | None) -> None:
        self._file = file
        self._position = position
        self._end = end
        self._inside_line = True

    def read(self, size: int) -> bytes:
        if self._end is None:
            return self._file.read(size)
        if self._position < self._end:
            chunk = self._file.read(min(size, self._end - self._position))
            self._position += len(chunk)
            self._inside_line = not chunk.endswith(b"\n")
            return chunk
        if not self._inside_line:
            return b""
        chunk = self._file.read(_TAIL_BYTES)
        newline = chunk.find(b"\n") + 1
        self._inside_line = not newline
        return chunk[:newline] if newline else chunk


class _Lines:
    """Cut a stream of bytes into blocks of whole lines."""

    def __init__(self, stream: _Readable, path: str, limits: Limits, *, offset: int) -> None:
        self._stream = stream
        self._path = path
        self._limits = limits
        self._offset = offset  # where in the file _held starts
        self._held = b""  # read, but not given out yet
        self._tear: StreamError | None = None

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        parts, size, cut = self._taken_up()
        while chunk := self._read(max(block_bytes - size, _TAIL_BYTES)):
            newline = chunk.rfind(b"\n") + 1
            cut = size + newline if newline else cut
            parts.append(chunk)
            size += len(chunk)
            if cut and size >= block_bytes:
                if newline:
                    parts[-1], self._held = chunk[:newline], chunk[newline:]
                    data = b"".join(parts)
                else:  # the line under way began in an earlier part
                    data = b"".join(parts)
                    data, self._held = data[:cut], data[cut:]
                yield Block(data, self._offset)
                self._offset += cut
            elif not cut and size > self._limits.max_record_bytes:
                self._report("RecordTooLong", too_long(self._limits), parts[0])
                self._held, self._offset = b"", self._offset + size
                self.skip_line()
            else:
                continue
            parts, size, cut = self._taken_up()
        yield from self._last_block(b"".join(parts))

    def _taken_up(self) -> tuple[list[bytes], int, int]:
        """Start a block with the rest of the one before: parts, their size, and the size of their whole lines."""
        held = self._held
        return ([held] if held else []), len(held), held.rfind(b"\n") + 1

    def _last_block(self, data: bytes) -> Iterator[Block]:
        whole = data if self._tear is None else data[: data.rfind(b"\n") + 1]
        if whole:
            yield Block(whole, self._offset)
        if self._tear is not None:
            self._offset += len(whole)
            self._report(self._tear.error_type, self._tear.message.removeprefix(f"{self._path}: "), data[len(whole) :])

    def skip_line(self) -> None:
        """Drop everything up to and including the next newline, without holding it."""
        while chunk := self._read(_TAIL_BYTES):
            newline = chunk.find(b"\n") + 1
            self._held, self._offset = (chunk[newline:] if newline else b""), self._offset + (newline or len(chunk))
            if newline:
                return

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except StreamError as error:
            self._tear = error.apart()
            return b""

    def _report(self, error_type: str, message: str, beginning: bytes) -> None:
        payload = beginning[:PAYLOAD_BYTES] or None
        report().bad_record(BadRecord(message, self._path, self._offset, error_type=error_type, payload=payload))
