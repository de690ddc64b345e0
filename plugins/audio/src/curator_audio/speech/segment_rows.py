"""Make rows of the segments of recordings, in tables of some minutes of sound, while the recordings are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from curator_audio.sound.decoding import Span
from curator_audio.sound.encoding import cut
from curator_audio.sound.source import DURATION_COLUMN, OFFSET_COLUMN
from curator_core.sdk import DataError, add_attributes, keep_readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curator_audio.sound.encoding import AudioFormat
    from curator_audio.sound.source import AudioSource, Clip
    from curator_core.sdk import TableBatch

__all__ = ["SPAN_COLUMNS", "SegmentRows"]

SPAN_COLUMNS: Final[Mapping[str, pa.DataType]] = {"segment_start_s": pa.float64(), "segment_end_s": pa.float64()}


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment of a row; nowhere, where the row has none."""

    row: int
    segment_start_s: float | None = None
    segment_end_s: float | None = None
    content: bytes | None = None

    @property
    def duration_s(self) -> float | None:
        if self.segment_start_s is None or self.segment_end_s is None:
            return None
        return self.segment_end_s - self.segment_start_s


class SegmentRows:
    """The rows of recordings, to be replaced by rows of their segments.

    Args:
        batch: The rows.
        source: Where their sound is. Where files are opened, segments stay in them.
        file_format: ``flac`` or ``wav``, for the sound that is cut out.
        describes: Whether ``offset_s`` and ``duration_s`` are to say which part of its file a segment is.
    """

    def __init__(self, batch: TableBatch, source: AudioSource, *, file_format: AudioFormat, describes: bool) -> None:
        self._batch = batch
        self._source = source
        self._file_format: AudioFormat = file_format
        self._describes = describes

    def tables(self, found: Sequence[Sequence[tuple[float, float]]], *, max_s: float) -> Iterator[TableBatch]:
        """Yield tables of segments, in order, with about ``max_s`` seconds of sound in each.

        A row whose sound cannot be cut is quarantined, without those of its segments that are not yet in a table.

        Args:
            found: The segments of each row. A row without any stays.
            max_s: Seconds in a table. A longer segment is alone in one.
        """
        waiting: list[_Segment] = []
        held_s = 0.0
        for row, (clip, spans) in enumerate(zip(self._source.clips(self._batch), found, strict=True)):
            try:
                for segment in self._segments(row, clip, spans):
                    length_s = segment.duration_s or 0.0
                    if waiting and held_s + length_s > max_s:
                        yield self._table(waiting)
                        waiting, held_s = [], 0.0
                    waiting.append(segment)
                    held_s += length_s
            except DataError as error:  # noqa: PERF203 - of this row; the others are cut
                keep_readable(
                    self._batch.with_data(self._batch.data.slice(row, 1)), [error], error_type="UnreadableAudio"
                )
                waiting = [each for each in waiting if each.row != row]
        if waiting:
            yield self._table(waiting)

    def _segments(self, row: int, clip: Clip | None, spans: Sequence[tuple[float, float]]) -> Iterator[_Segment]:
        if not spans:
            yield _Segment(row)
        elif clip is None or self._source.bytes_column is None:
            yield from (_Segment(row, *span) for span in spans)
        else:
            parts = cut(clip, (Span(*span) for span in spans), self._source.limits, file_format=self._file_format)
            yield from (_Segment(row, *span, content) for span, content in zip(spans, parts, strict=True))

    def _table(self, segments: Sequence[_Segment]) -> TableBatch:
        data, column = self._batch.data, self._source.bytes_column
        if column is not None:  # else the whole recording would be copied for each of its segments
            data = data.set_column(data.column_names.index(column), column, pa.nulls(len(data), pa.large_binary()))
        rows = self._batch.with_data(data.take(pa.array([each.row for each in segments], pa.int64())))
        rows = add_attributes(rows, segments, SPAN_COLUMNS)
        if column is not None:
            rows = rows.with_column(column, pa.array([each.content for each in segments], pa.large_binary()))
        if not self._describes:
            return rows
        before = [None] * len(segments)
        if OFFSET_COLUMN in rows.columns:
            before = rows.data.column(OFFSET_COLUMN).to_pylist()
        starts = [
            None if each.segment_start_s is None else (offset or 0.0) + each.segment_start_s
            for offset, each in zip(before, segments, strict=True)
        ]
        rows = rows.with_column(OFFSET_COLUMN, pa.array(starts, pa.float64()))
        return add_attributes(rows, segments, {DURATION_COLUMN: pa.float64()})
