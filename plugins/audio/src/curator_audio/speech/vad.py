"""Find speech in recordings: a row for each segment of it, or what there is of it in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import polars as pl
import pyarrow as pa

from curator_audio.sound.decoding import SPEECH_RATE, Span
from curator_audio.sound.encoding import AudioFormat, cut
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import DURATION_COLUMN, OFFSET_COLUMN, AudioSource
from curator_audio.speech.silero import WINDOW_S, Silero
from curator_audio.speech.speech_segments import SegmentRules, find_segments
from curator_core.errors import ConfigError, DataError
from curator_core.filter import Filter, Verdict
from curator_core.io.folder_reader import BYTES_COLUMN
from curator_core.io.locations import check_allowed_locations
from curator_core.row_outcomes import add_attributes, keep_readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator_audio.sound.decoding import Samples
    from curator_audio.sound.source import Clip
    from curator_core.stage import Columns, WorkerInfo
    from curator_core.tasks import TableBatch

__all__ = ["Vad"]

_SEGMENTS = pa.list_(pa.struct([("start_s", pa.float64()), ("end_s", pa.float64())]))
_ANNOTATION: Mapping[str, pa.DataType] = {
    "speech_segments": _SEGMENTS,
    "speech_s": pa.float64(),
    "speech_share": pa.float64(),
}
_SPAN: Mapping[str, pa.DataType] = {"segment_start_s": pa.float64(), "segment_end_s": pa.float64()}


@dataclass(frozen=True, slots=True)
class _Speech:
    """What speech a row holds."""

    speech_segments: list[dict[str, float]]
    speech_s: float
    speech_share: float


@dataclass(frozen=True, slots=True)
class _Segment:
    """Where a segment is; nowhere, in a row without speech."""

    segment_start_s: float | None
    segment_end_s: float | None

    @property
    def duration_s(self) -> float | None:
        if self.segment_start_s is None or self.segment_end_s is None:
            return None
        return self.segment_end_s - self.segment_start_s


@dataclass
class Vad(Filter):
    """Find speech with silero-vad, and make a row of each segment or note the segments in columns.

    With ``output="segments"``, every segment of speech becomes a row with its ``segment_start_s`` and
    ``segment_end_s`` and the sound of just that segment, at the recording's own sample rate and channels; where the
    files are opened (``bytes_field: null``) it stays in its file. ``offset_s`` and ``duration_s`` say which part of its
    file a segment is, unless the sound is that of something else, in another column than ``bytes``. The other columns
    are repeated. A recording without speech is dropped as ``no_speech``.

    With ``output="columns"``, rows stay rows and get ``speech_segments`` (a list of ``start_s``, ``end_s``),
    ``speech_s`` and ``speech_share``; a row without sound has no speech.

    Either way, recordings with too little speech are dropped if asked, and a file that cannot be decoded is
    quarantined. The detector runs on CPUs in onnxruntime; torch is not imported.

    >>> Vad(output="columns", min_share=0.3).outputs()
    ['speech_segments', 'speech_s', 'speech_share']

    Args:
        output: ``segments`` or ``columns``.
        min_speech_s: Least speech in a recording to keep, in seconds.
        min_share: Least share of speech in a recording to keep.
        threshold: Probability from which 32 ms of sound are speech.
        min_segment_s: Shorter segments are left out.
        max_segment_s: Longer segments are cut where speech is least probable; None for no limit.
        min_silence_s: A pause of this length ends a segment.
        pad_s: What segments get on both sides, as far as there is room.
        segment_format: ``flac`` or ``wav``, for the sound of segments.
        bytes_field: Column with the encoded audio; None to open the files.
        uri_field: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    output: Literal["segments", "columns"] = "segments"
    min_speech_s: float = 0.0
    min_share: float = 0.0
    threshold: float = 0.5
    min_segment_s: float = 0.25
    max_segment_s: float | None = None
    min_silence_s: float = 0.1
    pad_s: float = 0.03
    segment_format: AudioFormat = "flac"
    bytes_field: str | None = BYTES_COLUMN
    uri_field: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.vad"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if not 0 < self.threshold < 1:
            raise ConfigError(f"{self.name}: threshold={self.threshold} is not a probability between 0 and 1")
        if self.max_segment_s is not None and self.max_segment_s < max(2 * WINDOW_S, self.min_segment_s):
            raise ConfigError(f"{self.name}: max_segment_s={self.max_segment_s} is too short")

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Load the detector."""
        self._detector = Silero(stage=self.name, threads=self.resources.cpus)

    def teardown(self) -> None:
        self.__dict__.pop("_detector", None)

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        if self.output == "columns":
            return [*_ANNOTATION, *super().outputs()]
        place = [OFFSET_COLUMN, DURATION_COLUMN] if self._is_own_sound else []
        return [*_SPAN, *place, *super().outputs()]

    def process(self, task: TableBatch) -> TableBatch | None:
        """Find the speech in each row, drop rows with too little of it, and make segments if asked."""
        outcomes = [self._find(samples) for samples in mono_samples(task, self._source)]
        batch, found = keep_readable(task, outcomes, error_type="UnreadableAudio")
        if task.num_rows and not found:
            return None
        annotated = add_attributes(batch, found, _ANNOTATION)
        kept = self.apply(annotated, self.judge(annotated))
        return kept if kept is None or self.output == "columns" else self._cut(kept)

    def judge(self, batch: TableBatch) -> Verdict:
        speech, share = batch.series("speech_s"), batch.series("speech_share")
        reasons = {"no_speech": speech <= 0} if self.output == "segments" else {}
        if self.min_speech_s > 0:
            reasons["too_little_speech"] = speech < self.min_speech_s
        if self.min_share > 0:
            reasons["low_speech_share"] = share < self.min_share
        return Verdict(share, reasons)

    @property
    def _is_own_sound(self) -> bool:
        return self.bytes_field in (None, BYTES_COLUMN)

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_field, self.uri_field, limits, self.allowed_locations)

    def _find(self, samples: Samples | DataError | None) -> _Speech | DataError:
        if isinstance(samples, DataError):
            return samples
        if samples is None or not len(samples):
            return _Speech([], 0.0, 0.0)
        rules = SegmentRules(self.threshold, self.min_segment_s, self.max_segment_s, self.min_silence_s, self.pad_s)
        duration_s = len(samples) / SPEECH_RATE
        windows = self._detector.probabilities(samples)
        segments = find_segments(windows, rules, window_s=WINDOW_S, duration_s=duration_s)
        speech_s = round(sum(end - start for start, end in segments), 4)
        spans = [{"start_s": start, "end_s": end} for start, end in segments]
        return _Speech(spans, speech_s, min(1.0, speech_s / duration_s))

    def _cut(self, batch: TableBatch) -> TableBatch | None:
        """Make a row of every segment; a row without any stays, which only happens where rows are tagged."""
        contents: list[list[bytes | None] | DataError] = [self._contents(*each) for each in self._found(batch)]
        batch, cut_rows = keep_readable(batch, contents, error_type="UnreadableAudio")
        if not cut_rows:
            return None
        counts = pl.Series([len(each) for each in cut_rows], dtype=pl.Int64)
        origins = pl.int_range(len(cut_rows), eager=True).repeat_by(counts).explode().to_arrow()
        nothing = {"start_s": None, "end_s": None}
        segments = [each or [nothing] for each in batch.data.column("speech_segments").to_pylist()]
        spans = [_Segment(span["start_s"], span["end_s"]) for each in segments for span in each]
        rows = batch.with_data(batch.data.drop_columns(list(_ANNOTATION)).take(origins))
        rows = add_attributes(rows, spans, _SPAN)
        if self.bytes_field is not None:
            flat = [content for each in cut_rows for content in each]
            rows = rows.with_column(self.bytes_field, pa.array(flat, pa.large_binary()))
        return self._describe(rows, spans) if self._is_own_sound else rows

    def _found(self, batch: TableBatch) -> Iterator[tuple[Clip | None, list[dict[str, float]]]]:
        return zip(self._source.clips(batch), batch.data.column("speech_segments").to_pylist(), strict=True)

    def _contents(self, clip: Clip | None, found: list[dict[str, float]]) -> list[bytes | None] | DataError:
        """Return the sound of every segment of a row; where files are opened, it stays there."""
        if clip is None or not found or self.bytes_field is None:
            return [None] * max(1, len(found))
        try:
            spans = [Span(span["start_s"], span["end_s"]) for span in found]
            return list(cut(clip, spans, self._source.limits, file_format=self.segment_format))
        except DataError as error:
            return error

    def _describe(self, rows: TableBatch, spans: list[_Segment]) -> TableBatch:
        """Say which part of its file every segment is."""
        before: list[float | None] = [None] * len(spans)
        if OFFSET_COLUMN in rows.columns:
            before = rows.data.column(OFFSET_COLUMN).to_pylist()
        starts = [
            None if span.segment_start_s is None else (offset or 0.0) + span.segment_start_s
            for offset, span in zip(before, spans, strict=True)
        ]
        rows = rows.with_column(OFFSET_COLUMN, pa.array(starts, pa.float64()))
        return rows.with_column(DURATION_COLUMN, pa.array([span.duration_s for span in spans], pa.float64()))
