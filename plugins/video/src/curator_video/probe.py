"""Add what a video file says about itself as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_core.errors import DataError
from curator_core.row_outcomes import add_attributes, keep_readable
from curator_core.stage import ProcessingStage
from curator_core.tasks import TableBatch
from curator_video.video_info import probe_video, quieten_ffmpeg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.stage import Columns, WorkerInfo
    from curator_video.video_info import VideoInfo

__all__ = ["VIDEO_COLUMNS", "Probe"]

VIDEO_COLUMNS: Mapping[str, pa.DataType] = {
    "width": pa.int32(),
    "height": pa.int32(),
    "fps": pa.float64(),
    "duration_s": pa.float64(),
    "codec": pa.string(),
    "num_frames": pa.int64(),
    "has_audio": pa.bool_(),
}


@dataclass
class Probe(ProcessingStage[TableBatch, TableBatch]):
    """Add size, rate, duration, codec and number of frames of each video; no frame is decoded.

    A file that cannot be opened is quarantined; a row without a path gets nulls.

    Args:
        uri_field: Column with the paths of local files.
    """

    uri_field: str = "uri"

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.uri_field]

    def outputs(self) -> Columns:
        return list(VIDEO_COLUMNS)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: TableBatch) -> TableBatch | None:
        outcomes = [_attempt(path) for path in task.text(self.uri_field)]
        batch, infos = keep_readable(task, outcomes, error_type="UnreadableVideo")
        if task.num_rows and not infos:
            return None
        return add_attributes(batch, infos, VIDEO_COLUMNS)


def _attempt(path: str | None) -> VideoInfo | DataError | None:
    try:
        return None if path is None else probe_video(path)
    except DataError as error:
        return error
