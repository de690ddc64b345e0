"""Bring recordings to one sample rate and format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_audio.probe import AUDIO_COLUMNS
from curator_audio.sound.decoding import Channel, blocks_of, check_channel, one_channel, open_sound, resampled
from curator_audio.sound.encoding import AudioFormat, Subtype, encode
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.source import AudioSource
from curator_core.sdk import (
    BYTES_COLUMN,
    SIZE_COLUMN,
    ConfigError,
    DataError,
    ProcessingStage,
    TableBatch,
    add_attributes,
    check_allowed_locations,
    keep_readable,
)

if TYPE_CHECKING:
    from curator_audio.sound.source import Clip
    from curator_core.sdk import Columns

__all__ = ["Resample"]


@dataclass(frozen=True, slots=True)
class _Encoded:
    content: bytes
    duration_s: float
    sample_rate: int
    channels: int
    format: str

    @property
    def size_bytes(self) -> int:
        return len(self.content)


@dataclass
class Resample(ProcessingStage[TableBatch, TableBatch]):
    """Replace the sound of each row by one with a given sample rate, format and number of channels.

    Resampled with soxr in its high quality. A file that cannot be decoded is quarantined; a row without sound stays as
    it is. The columns ``duration_s``, ``sample_rate``, ``channels``, ``format`` and ``size_bytes`` describe the result
    where it is the row's own sound, in the column ``bytes``.

    >>> Resample(rate=16_000, mono=True).outputs()
    ['bytes', 'duration_s', 'sample_rate', 'channels', 'format', 'size_bytes']
    >>> Resample(bytes_column="audio").outputs()
    ['audio']

    Args:
        rate: Samples per second.
        mono: Make one channel of all; otherwise they stay as they are.
        channel: Which one that is: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        file_format: ``wav`` or ``flac``.
        subtype: ``PCM_16``, ``PCM_24``, or ``FLOAT`` for WAV.
        bytes_column: Column with the encoded audio, replaced; None to open the files and write the column ``bytes``.
        uri_column: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    rate: int = 16_000
    mono: bool = True
    channel: Channel = "mean"
    file_format: AudioFormat = "flac"
    subtype: Subtype = "PCM_16"
    bytes_column: str | None = BYTES_COLUMN
    uri_column: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.resample"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_channel(self.name, self.channel)
        if self.channel != "mean" and not self.mono:
            raise ConfigError(f"{self.name}: channel={self.channel!r} chooses one, mono=false keeps all")
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        if not limits.min_rate <= self.rate <= limits.max_rate:
            raise ConfigError(f"{self.name}: rate={self.rate} is not within {limits.min_rate} to {limits.max_rate}")
        if self.file_format == "flac" and self.subtype == "FLOAT":
            raise ConfigError(f"{self.name}: FLAC holds no floating-point samples", fix="use file_format: wav")

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        described = [*AUDIO_COLUMNS, SIZE_COLUMN] if self._describes else []
        return [self._target, *described]

    def process(self, task: TableBatch) -> TableBatch | None:
        """Decode, resample and encode the sound of each row."""
        outcomes = [None if clip is None else self._convert(clip) for clip in self._source.clips(task)]
        batch, found = keep_readable(task, outcomes, error_type="UnreadableAudio")
        if task.num_rows and not found:
            return None
        contents = [None if each is None else each.content for each in found]
        batch = batch.with_column(self._target, pa.array(contents, pa.large_binary()))
        return add_attributes(batch, found, {**AUDIO_COLUMNS, SIZE_COLUMN: pa.int64()}) if self._describes else batch

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_column, self.uri_column, limits, self.allowed_locations)

    @property
    def _target(self) -> str:
        return self.bytes_column or BYTES_COLUMN

    @property
    def _describes(self) -> bool:
        return self._target == BYTES_COLUMN

    def _convert(self, clip: Clip) -> _Encoded | DataError:
        limits = self._source.limits
        try:
            with clip.open() as file, open_sound(file, limits, span=clip.span) as sound:
                blocks = blocks_of(sound, limits, span=clip.span)
                channels = 1 if self.mono else sound.channels
                if self.mono:
                    blocks = (one_channel(block, self.channel) for block in blocks)
                if sound.samplerate != self.rate:
                    blocks = resampled(blocks, sound.samplerate, self.rate)
                content, frames = encode(
                    blocks, rate=self.rate, channels=channels, file_format=self.file_format, subtype=self.subtype
                )
        except DataError as error:
            return error
        return _Encoded(content, frames / self.rate, self.rate, channels, self.file_format.upper())
