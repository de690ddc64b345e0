"""Take some frames of each clip, as JPEG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import ConfigError, ProcessingStage, check_allowed_locations, keep_readable, keys_of_rows
from curator_video.batch import VideoBatch
from curator_video.clip import VideoSource
from curator_video.frame_jpeg import JpegEncoder
from curator_video.frame_times import evenly_spaced, every_seconds, frames_at
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip
from curator_video.video_info import expected_end_s

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo
    from curator_video.clip import Clip

__all__ = ["SampleFrames"]


@dataclass
class SampleFrames(ProcessingStage[VideoBatch, VideoBatch]):
    """Add ``count`` frames of each clip, or one every ``every_s`` seconds, as JPEG files.

    ``count`` frames are those that are shown in the middle of as many equal parts of the clip. A clip with fewer frames
    gives fewer. Frames come out upright, with square pixels and, as JPEG files have, 8 bits a sample. With
    ``layout: rows`` there is one row per frame, with its picture in ``bytes``, so that stages for images can work on
    them, and ``key`` and ``extension``, by which ``image.write_tar`` names it: the file, where the clip begins in
    milliseconds, and the number of the frame.

    >>> SampleFrames(count=4).outputs(), SampleFrames(every_s=1, layout="rows").outputs()
    (['frames', 'frame_times_s'], ['bytes', 'frame_time_s', 'key', 'extension'])

    Args:
        count: Frames per clip.
        every_s: Seconds between frames, instead of ``count``.
        layout: ``list``: a list of pictures per clip; ``rows``: a row per picture.
        max_side: Frames with a longer side are scaled down to it; None to keep their size.
        quality: Of the JPEG, 1 to 100.
        max_frames: Maximum number of frames of one clip.
        column: Where the pictures go: ``frames`` or ``bytes``, where None.
        times_column: Where their times go: ``frame_times_s`` or ``frame_time_s``, where None.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    count: int | None = None
    every_s: float | None = None
    layout: Literal["list", "rows"] = "list"
    max_side: int | None = None
    quality: int = 90
    max_frames: int = 1000
    column: str | None = None
    times_column: str | None = None
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.sample_frames"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if self.count is not None and self.every_s is not None:
            raise ConfigError(f"{self.name}: give count or every_s, not both")
        if (self.count is not None and self.count < 1) or (self.every_s is not None and self.every_s <= 0):
            raise ConfigError(f"{self.name}: count={self.count} or every_s={self.every_s} is too small")
        if not 1 <= self.quality <= 100 or self.max_frames < 1 or (self.max_side or 1) < 1:  # noqa: PLR2004 - percent
            raise ConfigError(f"{self.name}: quality must be 1 to 100, max_frames and max_side at least 1")

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        names = ["key", "extension"] if self.layout == "rows" else []
        return [self._picture_column, self._time_column, *names]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: VideoBatch) -> VideoBatch | None:
        """Add the frames; a row that names no file gets none."""
        outcomes = for_each_clip(task, self._source, self._sample)
        batch, samples = keep_readable(task, outcomes, error_type=UNREADABLE)
        if task.num_rows and not samples:
            return None
        pictures, times = self._picture_column, self._time_column
        if self.layout == "list":
            contents = [None if each is None else [content for _, content in each] for each in samples]
            seconds = [None if each is None else [time_s for time_s, _ in each] for each in samples]
            batch = batch.with_column(pictures, pa.array(contents, pa.large_list(pa.large_binary())))
            return batch.with_column(times, pa.array(seconds, pa.large_list(pa.float64())))
        none: list[tuple[float | None, bytes | None]] = [(None, None)]
        flat = [(row, number, *frame) for row, each in enumerate(samples) for number, frame in enumerate(each or none)]
        stems = self._key_stems(batch)
        batch = batch.with_data(batch.data.take(pa.array([row for row, *_ in flat], pa.int64())))
        batch = batch.with_column(pictures, pa.array([content for *_, content in flat], pa.large_binary()))
        batch = batch.with_column(times, pa.array([time_s for *_, time_s, _ in flat], pa.float64()))
        keys = [None if stems[row] is None else f"{stems[row]}-{number:05}" for row, number, *_ in flat]
        batch = batch.with_column("key", pa.array(keys, pa.string()))
        return batch.with_column("extension", pa.array(["jpg"] * len(flat), pa.string()))

    def _key_stems(self, batch: VideoBatch) -> list[str | None]:
        """Return the prefix of the keys of a clip's frames: the key or the path of its row, and its start."""
        rows = batch.num_rows
        starts_s = batch.data["start_s"].to_pylist() if "start_s" in batch.columns else [None] * rows
        names = keys_of_rows(batch, uri_column=self.uri_column)
        return [
            None if name is None else f"{name}-{round(1000 * (start_s or 0.0)):09}"
            for name, start_s in zip(names, starts_s, strict=True)
        ]

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    @property
    def _picture_column(self) -> str:
        return self.column or ("frames" if self.layout == "list" else "bytes")

    @property
    def _time_column(self) -> str:
        return self.times_column or ("frame_times_s" if self.layout == "list" else "frame_time_s")

    def _sample(self, clip: Clip) -> list[tuple[float, bytes]]:
        """Return the times and the JPEG files of the frames of a clip."""
        with open_video(clip, self.limits, threads=max(1, int(self.resources.cpus))) as video:
            end_s = expected_end_s(video, clip)
            if self.every_s is not None:
                times = every_seconds(clip.start_s, end_s, self.every_s)[: self.max_frames]
            else:
                times = evenly_spaced(clip.start_s, end_s, min(self.count or 1, self.max_frames))
            encoder = JpegEncoder(self.quality, self.max_side)
            frames = frames_at(video, times, clip.start_s, clip.end_s)
            return [(frame.time_s, encoder.encode(frame.picture, video.pixel_aspect)) for frame in frames]
