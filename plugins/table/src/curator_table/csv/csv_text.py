"""The text of a CSV file as Arrow's parser can take it: decompressed, always UTF-8, ending where there is damage."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from curator_core.sdk import Decompressor, ListedSize, StreamError, compression_of
from curator_table.utf8_check import incomplete_tail, is_utf8, mark_invalid

if TYPE_CHECKING:
    from curator_core.sdk import FileSlice, Limits

__all__ = ["CsvText"]


class CsvText(io.RawIOBase):
    """A stream that marks bytes that are not UTF-8 and ends at a tear, so that the rows around and before come out.

    Arrow gives up on a whole file where a row has both, a wrong number of fields and bytes that are not UTF-8.

    Args:
        file: The file.
        piece: The listed piece.
        limits: Caps on the expansion of compressed files.
    """

    def __init__(self, file: Any, piece: FileSlice, limits: Limits) -> None:
        self.tear: StreamError | None = None
        """The error that ended the stream early."""
        self.has_invalid = False
        """Whether marks replace bytes that are not UTF-8."""
        self.quotes = 0
        """How many quotation marks have been given out."""
        is_compressed = compression_of(piece.path) is not None
        self._source = Decompressor(file, piece.path, limits) if is_compressed else ListedSize(file, piece)
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Return about ``size`` bytes, more where marks were put in; none at the end."""
        fresh = self._read_source(size)
        data = self._held + fresh
        cut = len(data) - (incomplete_tail(data) if fresh else 0)
        data, self._held = data[:cut], data[cut:]
        if fresh and not data:
            return self.read(size)
        self.quotes += data.count(b'"')
        if is_utf8(data):
            return data
        self.has_invalid = True
        return mark_invalid(data)

    def _read_source(self, size: int) -> bytes:
        if self.tear is not None:
            return b""
        try:
            return self._source.read(size)
        except StreamError as error:
            self.tear = error.apart()
            return b""
