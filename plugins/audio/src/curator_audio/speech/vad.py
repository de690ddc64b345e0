"""Find speech in recordings: a row for each segment, or segments and totals in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from curator_audio.sound.decoding import SPEECH_RATE, Channel, check_channel
from curator_audio.sound.encoding import AudioFormat
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import streamed_samples
from curator_audio.sound.source import DURATION_COLUMN, OFFSET_COLUMN, AudioSource
from curator_audio.speech.segment_rows import SPAN_COLUMNS, SegmentRows
from curator_audio.speech.silero import WINDOW_S, Silero
from curator_audio.speech.speech_segments import SegmentRules, find_segments
from curator_core.sdk import BYTES_COLUMN, ConfigError, Filter, ModelStage, Verdict, check_allowed_locations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator_audio.sound.opening import Samples
    from curator_core.sdk import Columns, TableBatch

__all__ = ["Vad"]

_SEGMENTS = pa.list_(pa.struct([("start_s", pa.float64()), ("end_s", pa.float64())]))
_ANNOTATION: Mapping[str, pa.DataType] = {
    "speech_segments": _SEGMENTS,
    "speech_s": pa.float64(),
    "speech_fraction": pa.float64(),
}


@dataclass
class Vad(ModelStage, Filter):
    """Find speech with silero-vad, and make a row of each segment or note the segments in columns.

    With ``output="segments"``, every segment of speech becomes a row with its ``segment_start_s`` and
    ``segment_end_s`` and the sound of just that segment, at the recording's own sample rate and channels; where the
    files are opened (``bytes_column: null``) it stays in its file. ``offset_s`` and ``duration_s`` say which part of
    its file a segment is, unless the sound is that of something else, in another column than ``bytes``. The other
    columns are repeated. A recording without speech is dropped as ``no_speech``.

    With ``output="columns"``, rows stay rows and get ``speech_segments`` (a list of ``start_s``, ``end_s``),
    ``speech_s`` and ``speech_fraction``; a row without sound has no speech.

    Either way, recordings with too little speech are dropped if asked, and a file that cannot be decoded is
    quarantined. The detector runs on CPUs in onnxruntime; torch is not imported.

    >>> Vad(output="columns", min_speech_fraction=0.3).outputs()
    ['speech_segments', 'speech_s', 'speech_fraction']

    Args:
        output: ``segments`` or ``columns``.
        min_speech_s: Minimum speech in a recording to keep, in seconds.
        min_speech_fraction: Minimum fraction of speech in a recording to keep.
        threshold: Probability from which 32 ms of sound are speech.
        min_segment_s: Shorter segments are left out.
        max_segment_s: Longer segments are cut where speech is least probable; None for no limit.
        min_silence_s: A pause of this length ends a segment.
        pad_s: Seconds added to segments on both sides, as far as there is room.
        segment_format: ``flac`` or ``wav``, for the sound of segments.
        task_s: Seconds of segments in a table, about: those of a long recording become several tables, made while it is
            read, so that the next stages begin early and little is held in memory.
        channel: Which channel is heard: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        bytes_column: Column with the encoded audio; None to open the files.
        uri_column: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    output: Literal["segments", "columns"] = "segments"
    min_speech_s: float = 0.0
    min_speech_fraction: float = 0.0
    threshold: float = 0.5
    min_segment_s: float = 0.25
    max_segment_s: float | None = None
    min_silence_s: float = 0.1
    pad_s: float = 0.03
    segment_format: AudioFormat = "flac"
    task_s: float = 300.0
    channel: Channel = "mean"
    bytes_column: str | None = BYTES_COLUMN
    uri_column: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.vad"
    model_batch_size = 1  # a recording at a time, block by block
    uses_torch = False
    fuse = True  # stages behind one another decode a recording once
    unreadable: ClassVar[str] = "UnreadableAudio"
    options: ClassVar[tuple[str, ...]] = Filter.options
    spreads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_channel(self.name, self.channel)
        if not 0 < self.threshold < 1:
            raise ConfigError(f"{self.name}: threshold must be between 0 and 1, got {self.threshold}")
        if not 0 <= self.min_speech_fraction <= 1:
            raise ConfigError(
                f"{self.name}: min_speech_fraction must be between 0 and 1, got {self.min_speech_fraction}",
                fix="write 25 % as 0.25",
            )
        if self.max_segment_s is not None and self.max_segment_s < max(2 * WINDOW_S, self.min_segment_s):
            raise ConfigError(f"{self.name}: max_segment_s={self.max_segment_s} is too short")
        if self.task_s <= 0:
            raise ConfigError(f"{self.name}: task_s must be positive, got {self.task_s}")

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        if self.output == "columns":
            return [*_ANNOTATION, *super().outputs()]
        place = [OFFSET_COLUMN, DURATION_COLUMN] if self._is_own_sound else []
        return [*SPAN_COLUMNS, *place, *super().outputs()]

    def load(self, device: str) -> Silero:  # noqa: ARG002 - it runs on CPUs
        return Silero(stage=self.name, threads=self.resources.cpus)

    def output_types(self, model: Silero) -> Mapping[str, pa.DataType]:  # noqa: ARG002
        return _ANNOTATION

    def prepare(self, model: Silero, batch: TableBatch) -> Iterator[Iterator[Samples]]:  # noqa: ARG002
        return (blocks or iter(()) for blocks in streamed_samples(batch, self._source))

    def complete(  # type: ignore[override]  # a filter makes one table of one; this may cut a recording into several
        self, batch: TableBatch
    ) -> TableBatch | Iterator[TableBatch] | None:
        """Drop rows with too little speech, and make segments if asked."""
        kept = self.apply(batch, self.judge(batch))
        if kept is None or self.output == "columns":
            return kept
        tables = self._segments(kept)
        if kept.series("speech_s").sum() > self.task_s:
            return tables
        made = list(tables)  # mostly one; two where rounded times add up to a little more
        return made[0] if len(made) == 1 else iter(made)

    def judge(self, batch: TableBatch) -> Verdict:
        speech, fraction = batch.series("speech_s"), batch.series("speech_fraction")
        reasons = {"no_speech": speech <= 0} if self.output == "segments" else {}
        if self.min_speech_s > 0:
            reasons["too_little_speech"] = speech < self.min_speech_s
        if self.min_speech_fraction > 0:
            reasons["low_speech_fraction"] = fraction < self.min_speech_fraction
        return Verdict(fraction, reasons)

    @property
    def _is_own_sound(self) -> bool:
        return self.bytes_column in (None, BYTES_COLUMN)

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_column, self.uri_column, limits, self.allowed_locations, self.channel)

    def predict(self, model: Silero, rows: list[Iterator[Samples]]) -> dict[str, list[Any]]:
        """Return the speech in a recording, which is decoded, resampled and analysed block by block."""
        samples = 0

        def counted(blocks: Iterator[Samples]) -> Iterator[Samples]:
            nonlocal samples
            for block in blocks:
                samples += len(block)
                yield block

        (blocks,) = rows
        windows = model.probabilities(counted(blocks))
        if not samples:
            return {"speech_segments": [[]], "speech_s": [0.0], "speech_fraction": [0.0]}
        rules = SegmentRules(self.threshold, self.min_segment_s, self.max_segment_s, self.min_silence_s, self.pad_s)
        duration_s = samples / SPEECH_RATE
        segments = find_segments(windows, rules, window_s=WINDOW_S, duration_s=duration_s)
        speech_s = round(sum(end - start for start, end in segments), 4)
        spans = [{"start_s": start, "end_s": end} for start, end in segments]
        fraction = min(1.0, speech_s / duration_s)
        return {"speech_segments": [spans], "speech_s": [speech_s], "speech_fraction": [fraction]}

    def _segments(self, batch: TableBatch) -> Iterator[TableBatch]:
        found = [[tuple(span.values()) for span in each] for each in batch.data.column("speech_segments").to_pylist()]
        rows = SegmentRows(
            batch.with_data(batch.data.drop_columns(list(_ANNOTATION))),
            self._source,
            file_format=self.segment_format,
            describes=self._is_own_sound,
        )
        return rows.tables(found, max_s=self.task_s)
