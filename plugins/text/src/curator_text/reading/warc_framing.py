"""Find the records in the bytes of a WARC file: headers, content of a declared length, two line ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BrokenRecord", "RawRecord", "framed_records"]

_HEADER_BYTES = 2**20
_CHUNK_BYTES = 2**18
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_RECORD_START = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n[A-Za-z-]{1,60}:")
_VERSION = re.compile(rb"WARC/[01]\.\d+\r?\n")
_CONTENT_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CONTINUED = re.compile(rb"\r?\n[ \t]+")
_LINE_ENDS = re.compile(rb"[\r\n]*")
_SEARCH_BYTES = 2**20
_MAX_START_BYTES = 128
_SHOWN_BYTES = 256


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as it stands in the file.

    Args:
        offset: Where it begins.
        header: From ``WARC/1.0`` to the empty line.
        content: The content behind the header.
    """

    offset: int
    header: bytes
    content: bytes

    def fields(self) -> dict[str, str]:
        """Return the header's fields by lower-case name; the first of a name counts."""
        fields: dict[str, str] = {}
        for line in _CONTINUED.sub(b" ", self.header).decode("utf-8", "replace").splitlines()[1:]:
            name, colon, value = line.partition(":")
            if colon:
                fields.setdefault(name.strip().lower(), value.strip())
        return fields


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A place where a record should be and cannot be read.

    Args:
        offset: Where it begins.
        message: The error.
        error_type: ``CorruptWarc``, ``TornFile`` or ``RecordTooLong``.
        beginning: Its first bytes.
    """

    offset: int
    message: str
    error_type: str
    beginning: bytes = b""


def framed_records(stream: BinaryIO, *, max_record_bytes: int, resync: bool) -> Iterator[RawRecord | BrokenRecord]:
    """Yield the records of a stream in their order.

    Args:
        stream: The decompressed bytes.
        max_record_bytes: A record with longer content is skipped without being held, and reported.
        resync: Look for the next record behind a broken one; the stream must be seekable then. Otherwise it ends.
    """
    reader = _Framer(stream, max_record_bytes)
    while True:
        record = reader.next_record()
        if record is None:
            return
        yield record
        if isinstance(record, BrokenRecord) and reader.is_lost and not (resync and reader.find_next(record.offset)):
            return


class _Framer:
    def __init__(self, stream: BinaryIO, max_record_bytes: int) -> None:
        self._stream = stream
        self._max = max_record_bytes
        self._held = b""
        self._offset = 0  # where _held begins
        self.is_lost = False
        """Whether it is unknown where the next record begins."""

    def next_record(self) -> RawRecord | BrokenRecord | None:
        self.is_lost = False
        self._skip_line_ends()
        if not self._held:
            return None
        start = self._offset
        header = self._header()
        if isinstance(header, str):
            return self._lost(header, "CorruptWarc")
        length = _CONTENT_LENGTH.search(header)
        if length is None:
            return self._lost("the record has no Content-Length", "CorruptWarc")
        size = int(length[1])
        return self._skip_long(start, header, size) if size > self._max else self._record(start, header, size)

    def _record(self, start: int, header: bytes, size: int) -> RawRecord | BrokenRecord:
        end = len(header) + size
        self._fill(end + 4)
        if len(self._held) < end:
            return self._lost(f"the file ends inside a record of {size:,} bytes", "TornFile")
        if not self._ends_well(end):
            return self._lost(f"the record does not end after the {size:,} bytes that its header says", "CorruptWarc")
        content = self._held[len(header) : end]
        self._drop(end)
        return RawRecord(start, header, content)

    def _lost(self, message: str, error_type: str) -> BrokenRecord:
        self.is_lost = True
        return BrokenRecord(self._offset, message, error_type, self._held[:_SHOWN_BYTES])

    def find_next(self, start: int) -> bool:
        """Go to the next place after ``start`` that looks like a record; return whether there is one."""
        self._offset, self._held = start + 1, b""
        self._stream.seek(self._offset)
        while True:
            self._fill(_SEARCH_BYTES)
            found = _RECORD_START.search(self._held)
            if found:
                self._drop(found.start())
                return True
            if len(self._held) < _SEARCH_BYTES:
                return False
            self._drop(_SEARCH_BYTES - _MAX_START_BYTES)

    def _header(self) -> bytes | str:
        """Return the header with the empty line behind it, or its error."""
        self._fill(_CHUNK_BYTES if len(self._held) < 16 else 16)  # noqa: PLR2004 - as long as the version line
        if not _VERSION.match(self._held):
            return "no record begins here"
        size = len(self._held)
        while True:
            end = _HEADER_END.search(self._held)
            if end:
                header = self._held[: end.end()]
                return "another record begins inside the header" if _RECORD_START.search(header, 1) else header
            if size >= _HEADER_BYTES:
                return f"the header is longer than {_HEADER_BYTES:,} bytes"
            self._fill(size + _CHUNK_BYTES)
            if len(self._held) == size:
                return "the file ends inside a header"
            size = len(self._held)

    def _ends_well(self, end: int) -> bool:
        """Whether the content is followed by the end of a record: two line ends, another record, or nothing."""
        if self._held.startswith(b"\r\n\r\n", end):
            return True
        self._fill(end + 64)
        following = self._held[end : end + 64].lstrip(b"\r\n")
        return not following or following.startswith(b"WARC/")

    def _skip_long(self, start: int, header: bytes, size: int) -> BrokenRecord:
        message = f"the record is longer than {self._max:,} bytes ({size:,}); raise max_record_bytes if it is genuine"
        left = len(header) + size
        while left and self._held:
            step = min(left, len(self._held))
            self._drop(step)
            left -= step
            self._fill(_CHUNK_BYTES)
        self.is_lost = left > 0 or not self._ends_well(0)
        return BrokenRecord(start, message, "RecordTooLong", header[:_SHOWN_BYTES])

    def _skip_line_ends(self) -> None:
        while True:
            if not self._held:
                self._fill(_CHUNK_BYTES)
            size = len(self._held)
            line_ends = _LINE_ENDS.match(self._held)
            self._drop(line_ends.end() if line_ends else 0)
            if self._held or not size:
                return

    def _fill(self, size: int) -> None:
        """Hold at least ``size`` bytes, where the stream has them."""
        if len(self._held) >= size:
            return
        parts = [self._held]
        missing = size - len(self._held)
        while missing > 0:
            data = self._stream.read(max(missing, _CHUNK_BYTES))
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        self._held = b"".join(parts)

    def _drop(self, size: int) -> None:
        if size:
            self._held = self._held[size:]
            self._offset += size
