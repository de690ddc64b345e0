"""Where the sound of each row is: encoded in a column, or in a file, whole or a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_audio.sound.decoding import Span
from curator_core.sdk import RowFile, StageError, row_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from curator_audio.sound.decoding import Channel
    from curator_audio.sound.limits import AudioLimits
    from curator_core.sdk import TableBatch

__all__ = ["DURATION_COLUMN", "OFFSET_COLUMN", "AudioSource", "BufferFile", "Clip"]

OFFSET_COLUMN = "offset_s"
"""Where in its file a row's sound begins; without a value, the row is the whole file."""
DURATION_COLUMN = "duration_s"


class BufferFile(pa.BufferReader):  # type: ignore[misc]  # pyarrow has no types
    """Encoded audio in memory as a file, without a copy. As in other files, seeking beyond its end is allowed."""

    def seek(self, position: int, whence: int = 0) -> int:
        size = self.size()
        begin = {0: 0, 1: self.tell(), 2: size}[whence]
        return int(super().seek(min(begin + position, size)))


@dataclass(frozen=True, slots=True)
class Clip:
    """The encoded sound of one row.

    Args:
        content: Its bytes, or its file.
        span: Which part of it; all, where None.
    """

    content: pa.Buffer | RowFile
    span: Span | None = None

    def open(self) -> BinaryIO:
        """Open it for reading.

        Raises:
            LocationError: The row may not name the file.
            DataError: The file is not there or may not be read.
        """
        return self.content.open() if isinstance(self.content, RowFile) else BufferFile(self.content)


@dataclass(frozen=True, slots=True)
class AudioSource:
    """Which columns of a batch hold the sound, and how much of it may be decoded.

    Args:
        bytes_column: Column with encoded audio; None to open the files.
        uri_column: Column with the paths or URLs of the files. Where the batch has the column ``offset_s``, a value in
            it makes the row a part of its file, ``duration_s`` long.
        limits: Limits for decoded sound.
        allowed_locations: Folders or URL prefixes that rows may name beside the place they were read from.
        channel: Which channel is heard, by stages that hear one.
    """

    bytes_column: str | None
    uri_column: str
    limits: AudioLimits
    allowed_locations: Sequence[str] | None = None
    channel: Channel = "mean"

    @property
    def column(self) -> str:
        """The column that is read."""
        return self.bytes_column or self.uri_column

    def clips(self, batch: TableBatch) -> list[Clip | None]:
        """Return the sound of each row; None where there is none.

        Raises:
            StageError: There is no such column, or it does not hold bytes (or text, for files).
        """
        if self.bytes_column is None:
            spans = _spans(batch)
            files = row_files(batch, self.uri_column, self.allowed_locations)
            return [None if file is None else Clip(file, span) for file, span in zip(files, spans, strict=True)]
        batch.check_column(self.bytes_column)
        column = batch.data.column(self.bytes_column)
        if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
            if column.null_count == len(column):
                return [None] * len(column)
            raise StageError(
                f"column {self.bytes_column!r} holds {column.type}, but encoded audio was expected",
                fix="name the column with the bytes, or set bytes_column to null to open the files in 'uri'",
            )
        return [Clip(value.as_buffer()) if value.is_valid else None for value in column]


def _spans(batch: TableBatch) -> list[Span | None]:
    if OFFSET_COLUMN not in batch.columns:
        return [None] * batch.num_rows
    offsets = batch.data.column(OFFSET_COLUMN).to_pylist()
    durations: list[Any] = [None] * batch.num_rows
    if DURATION_COLUMN in batch.columns:
        durations = batch.data.column(DURATION_COLUMN).to_pylist()
    return [
        None if offset is None else Span(offset, None if duration is None else offset + duration)
        for offset, duration in zip(offsets, durations, strict=True)
    ]
