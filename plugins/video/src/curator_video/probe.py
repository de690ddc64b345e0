"""Add the declared properties of video files as columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_core.sdk import ProcessingStage, TableBatch, add_attributes, keep_readable
from curator_video.clip import CLIP_COLUMNS, END_COLUMN, ID_COLUMN, START_COLUMN, VideoSource, clip_id
from curator_video.limits import VideoLimits
from curator_video.opening import quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip
from curator_video.video_info import Verify, probe_video

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["VIDEO_COLUMNS", "Probe"]

VIDEO_COLUMNS: Mapping[str, pa.DataType] = {
    "width": pa.int32(),
    "height": pa.int32(),
    "rotation": pa.int32(),
    "fps": pa.float64(),
    "duration_s": pa.float64(),
    "codec": pa.string(),
    "num_frames": pa.int64(),
    "has_audio": pa.bool_(),
}


@dataclass
class Probe(ProcessingStage[TableBatch, TableBatch]):
    """Add size, rate, duration, codec and number of frames of each video, and the span of the whole of it.

    A file that cannot be opened is quarantined; a row without a path gets nulls.

    Args:
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        verify: How closely to look: decode the first frame, read all packets, or decode all frames.
        limits: Limits on size and time.
    """

    uri_column: str = "uri"
    bytes_column: str | None = None
    verify: Verify = "first_frame"
    limits: VideoLimits = field(default=VideoLimits())

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        return [*VIDEO_COLUMNS, *CLIP_COLUMNS]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: TableBatch) -> TableBatch | None:
        probe = partial(probe_video, limits=self.limits, verify=self.verify)
        outcomes = for_each_clip(task, VideoSource(self.uri_column, self.bytes_column), probe)
        batch, infos = keep_readable(task, outcomes, error_type=UNREADABLE)
        if task.num_rows and not infos:
            return None
        batch = add_attributes(batch, infos, VIDEO_COLUMNS)
        uris = batch.text(self.uri_column).to_list()
        ends = [None if info is None else info.duration_s for info in infos]
        columns = {
            ID_COLUMN: [
                None if info is None else clip_id(uri, 0.0, info.duration_s)
                for uri, info in zip(uris, infos, strict=True)
            ],
            START_COLUMN: [None if info is None else 0.0 for info in infos],
            END_COLUMN: ends,
        }
        for name, values in columns.items():
            batch = batch.with_column(name, pa.array(values, CLIP_COLUMNS[name]))
        return batch
