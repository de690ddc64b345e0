"""Write each clip to a file, with a manifest of their columns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    ConfigError,
    DataError,
    FileWriter,
    add_attributes,
    atomic_output,
    check_allowed_locations,
    keep_readable,
)
from curator_table import write_jsonl, write_parquet
from curator_video.clip import ID_COLUMN, VideoSource, clip_id
from curator_video.clip_copy import copy_clip, plan_copy
from curator_video.clip_encode import VideoCodec, encode_clip, quieten_encoders
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.sdk import Columns, FileGroupTask, TableBatch, WorkerInfo
    from curator_video.clip import Clip
    from curator_video.clip_copy import CopyPlan

__all__ = ["WriteClips"]

_MANIFEST_COLUMNS: Mapping[str, pa.DataType] = {
    "clip_file": pa.string(),
    "clip_codec": pa.string(),
    "is_copy": pa.bool_(),
    "clip_frames": pa.int64(),
    "clip_bytes": pa.int64(),
}


@dataclass(frozen=True, slots=True)
class _Written:
    clip_file: str
    clip_codec: str
    is_copy: bool
    clip_frames: int
    clip_bytes: int


@dataclass
class WriteClips(FileWriter):
    """Write each clip to a file, and a manifest of all clips of a batch with their columns.

    A clip whose first frame is a key frame, and whose end cuts no dependency, is copied as it is stored (MP4, WebM or
    Matroska, by codec). Any other is encoded with AV1 or VP9, and Opus, as WebM. Files are named after the task and the
    clip, appear only when they are whole, and are the same when a task is repeated. Columns with pictures or other
    bytes are left out of the manifest.

    >>> WriteClips("clips", mode="encode", codec="vp9").inputs()
    ['uri']

    Args:
        path: Output folder or URL; created where missing.
        mode: ``auto``; ``copy`` (a clip that cannot be copied is quarantined); ``encode`` (all clips, alike).
        codec: ``av1`` or ``vp9``, for clips that are encoded.
        crf: Their quality: lower is better and larger; 0 to 63.
        manifest: Format of the manifest.
        keep_provenance: Also list ``_source`` and ``_row`` there.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    mode: Literal["auto", "copy", "encode"] = field(default="auto", kw_only=True)
    codec: VideoCodec = field(default="av1", kw_only=True)
    crf: int = field(default=32, kw_only=True)
    manifest: Literal["jsonl", "parquet"] = field(default="jsonl", kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    uri_column: str = field(default="uri", kw_only=True)
    bytes_column: str | None = field(default=None, kw_only=True)
    limits: VideoLimits = field(default=VideoLimits(), kw_only=True)
    allowed_locations: list[str] | None = field(default=None, kw_only=True)

    name = "video.write_clips"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if not 0 <= self.crf <= 63:  # noqa: PLR2004 - the scale of both encoders
            raise ConfigError(f"{self.name}: crf must be 0 to 63, got {self.crf}")

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def setup(self, worker: WorkerInfo) -> None:
        """Create the folder and quieten the encoders."""
        super().setup(worker)
        quieten_ffmpeg()
        quieten_encoders()

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write the clips of a batch, then the manifest; return all files, or None where there are none."""
        outcomes = for_each_clip(task, self._source, lambda clip: self._write(task.task_id, clip))
        batch, written = keep_readable(task, outcomes, error_type=UNREADABLE)
        has_file = pa.array([each is not None for each in written], pa.bool_())
        batch = batch.with_data(batch.data.filter(has_file))
        files = [each for each in written if each is not None]
        if not files:
            return None
        sizes = {self.file_path(each.clip_file): each.clip_bytes for each in files}
        table = self._listed(add_attributes(batch, files, _MANIFEST_COLUMNS), files)
        path = self.file_path(self.file_name(task.task_id, f".{self.manifest}"))
        sizes[path] = write_jsonl(table, path) if self.manifest == "jsonl" else write_parquet(table, path)
        return self.written(task, sizes, rows=len(files))

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    def _write(self, task_id: str, clip: Clip) -> _Written:
        """Write one clip."""
        begin = self.file_name(task_id, f".{clip_id(clip.uri, clip.start_s, clip.end_s)}")
        plan = None
        if self.mode != "encode":
            with open_video(clip, self.limits) as video:
                plan = plan_copy(video, clip)
        if plan is not None:
            return self._copy(f"{begin}.{plan.container}", clip, plan)
        if self.mode == "copy":
            raise DataError("the clip begins or ends between key frames and cannot be copied", source=clip.uri)
        return self._encode(f"{begin}.webm", clip)

    def _copy(self, name: str, clip: Clip, plan: CopyPlan) -> _Written:
        with atomic_output(self.file_path(name)) as file:
            copy_clip(clip, self.limits, plan, file)
            size = file.seek(0, os.SEEK_END)
        return _Written(name, plan.codec, True, len(plan.pts), size)

    def _encode(self, name: str, clip: Clip) -> _Written:
        threads = max(1, int(self.resources.cpus))
        with atomic_output(self.file_path(name)) as file:
            frames = encode_clip(clip, self.limits, file, codec=self.codec, crf=self.crf, threads=threads)
            size = file.seek(0, os.SEEK_END)
        return _Written(name, self.codec, False, frames, size)

    def _listed(self, batch: TableBatch, files: list[_Written]) -> pa.Table:
        """Return the columns of the manifest: text, numbers and lists of them, and the id of every clip."""
        if ID_COLUMN not in batch.columns:
            batch = batch.with_column(ID_COLUMN, pa.array([each.clip_file.split(".")[1] for each in files]))
        hidden = () if self.keep_provenance else (SOURCE_COLUMN, ROW_COLUMN)
        table = batch.data
        return table.select(
            [each.name for each in table.schema if each.name not in hidden and not _is_bytes(each.type)]
        )


def _is_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_bytes(kind.value_type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))
