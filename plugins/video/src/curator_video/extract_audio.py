"""Add the sound of each clip as an audio file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import ConfigError, ProcessingStage, check_allowed_locations, keep_readable
from curator_video.audio_track import Layout, decode_sound, flac_file, wav_file
from curator_video.batch import VideoBatch
from curator_video.clip import VideoSource
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo
    from curator_video.clip import Clip

__all__ = ["ExtractAudio"]


@dataclass
class ExtractAudio(ProcessingStage[VideoBatch, VideoBatch]):
    """Add the first sound track of each clip as a WAV or FLAC file, for stages that take ``bytes_column: audio``.

    It is as long as the clip, to the sample; silence stands in where the track begins later or ends earlier. A video
    without a sound track gets null.

    >>> ExtractAudio(rate=16_000, format="flac").outputs()
    ['audio']

    Args:
        rate: Samples per second.
        layout: ``mono`` or ``stereo``; other layouts are mixed down.
        format: ``wav`` (16 bit) or ``flac``.
        column: Where the files go.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    rate: int = 16_000
    layout: Layout = "mono"
    format: Literal["wav", "flac"] = "wav"
    column: str = "audio"
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.extract_audio"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if not 1000 <= self.rate <= 192_000:  # noqa: PLR2004 - what audio formats know
            raise ConfigError(f"{self.name}: rate must be 1,000 to 192,000, got {self.rate}")

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        return [self.column]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: VideoBatch) -> VideoBatch | None:
        """Add the sound; a video whose track cannot be decoded is quarantined."""
        outcomes = for_each_clip(task, self._source, self._extract)
        batch, files = keep_readable(task, outcomes, error_type=UNREADABLE)
        if task.num_rows and not files:
            return None
        return batch.with_column(self.column, pa.array(files, pa.large_binary()))

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    def _extract(self, clip: Clip) -> bytes | None:
        with open_video(clip, self.limits) as video:
            samples = decode_sound(video, clip, rate=self.rate, layout=self.layout)
        if samples is None:
            return None
        return wav_file(samples, self.rate) if self.format == "wav" else flac_file(samples, self.rate)
