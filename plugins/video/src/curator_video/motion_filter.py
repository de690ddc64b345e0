"""Drop clips in which nothing moves, or too much does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import (
    ConfigError,
    DataError,
    Filter,
    Verdict,
    check_allowed_locations,
    check_range,
    keep_readable,
)
from curator_video.clip import VideoSource
from curator_video.limits import VideoLimits
from curator_video.motion import by_differences, by_vectors
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo
    from curator_video.clip import Clip

__all__ = ["MotionFilter"]


@dataclass
class MotionFilter(Filter):
    """Keep clips that move by ``min_motion`` to ``max_motion`` diagonals of the frame per second.

    The measure is the mean length of the codec's motion vectors, by area, over the frame's diagonal, times the frame
    rate. Codecs whose vectors cannot be had (VP9, AV1, HEVC) and videos of key frames only are measured by how much
    pixels change from frame to frame, in the same unit. A still picture has 0; a slow pan that takes ten seconds for
    the width of the frame about 0.09.

    >>> MotionFilter(min_motion=0.02).inputs()
    ['uri']

    Args:
        min_motion: Less is dropped as ``static``.
        max_motion: More is dropped as ``too_much_motion``; None for no limit.
        max_frames: Maximum number of frames of a clip to measure, from its beginning.
        motion_column: Column with the motion of clips, measured before (``video.split_scenes: {motion_column: …}``);
            those for which it is null are measured here.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    min_motion: float = 0.01
    max_motion: float | None = None
    max_frames: int = 250
    motion_column: str | None = None
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.motion_filter"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_range(self.name, min_motion=self.min_motion, max_motion=self.max_motion)
        if self.max_frames < 2:  # noqa: PLR2004 - motion needs two frames
            raise ConfigError(f"{self.name}: max_frames must be at least 2, got {self.max_frames}")

    def inputs(self) -> Columns:
        return [self.uri_column, *(each for each in (self.bytes_column, self.motion_column) if each is not None)]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: TableBatch) -> TableBatch | None:
        """Quarantine the clips that cannot be decoded, and judge the others."""
        outcomes = self._outcomes(task)
        batch, motion = keep_readable(task, outcomes, error_type=UNREADABLE)
        if task.num_rows and not motion:
            return None
        return self.apply(batch, self._verdict(motion))

    def judge(self, batch: TableBatch) -> Verdict:
        """Score every row; one that cannot be decoded has no score."""
        return self._verdict([None if isinstance(each, DataError) else each for each in self._outcomes(batch)])

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    def _outcomes(self, batch: TableBatch) -> list[float | DataError | None]:
        """Return the motion of every row: as it was measured before, else as it is measured now."""
        if self.motion_column is None:
            return for_each_clip(batch, self._source, self._measure)
        known = batch.series(self.motion_column).cast(pl.Float64)
        missing = batch.with_data(batch.data.filter(known.is_null().to_arrow()))
        measured = iter(for_each_clip(missing, self._source, self._measure))
        return [next(measured) if each is None else each for each in known.to_list()]

    def _verdict(self, motion: list[float | None]) -> Verdict:
        scores = pl.Series(motion, dtype=pl.Float64)
        return Verdict.between(scores, self.min_motion, self.max_motion, below="static", above="too_much_motion")

    def _measure(self, clip: Clip) -> float:
        threads = max(1, int(self.resources.cpus))
        with open_video(clip, self.limits, threads=threads) as video:
            motion = by_vectors(video, clip, self.max_frames)
        if motion is None:  # the decoder cannot be told to make pixels once it has begun without
            with open_video(clip, self.limits, threads=threads) as video:
                motion = by_differences(video, clip, self.max_frames)
        return motion
