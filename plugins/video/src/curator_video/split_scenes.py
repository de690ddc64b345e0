"""Cut videos where scenes change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_core.sdk import ConfigError, ProcessingStage, check_allowed_locations, keep_readable
from curator_video.batch import VideoBatch
from curator_video.clip import VideoSource
from curator_video.fan_out import SPLIT_COLUMNS, TASK_S, fan_out, in_tasks
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip
from curator_video.scene_detection import Detector, SceneSettings, detect_scenes, make_detector

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo
    from curator_video.clip import Clip
    from curator_video.spans import Span

__all__ = ["SplitScenes"]


@dataclass
class SplitScenes(ProcessingStage[VideoBatch, VideoBatch]):
    """Cut each video, or clip, at the changes of scene that PySceneDetect finds; the scenes cover the source.

    Frames are decoded once, in this process, roughly and straight to a small size. Times are those of the file, so that
    a variable frame rate does no harm.

    >>> SplitScenes(detector="content", threshold=30).inputs()
    ['uri']

    Args:
        detector: ``adaptive`` compares the change of each frame with that of its neighbours, which camera movement
            does not trigger; ``content`` with a fixed threshold; ``threshold`` finds fades through black.
        threshold: Score that begins a scene; None for PySceneDetect's defaults (3.0, 27.0 and 12.0).
        min_scene_s: Minimum length of a scene; a shorter one is joined to its neighbour.
        width: Maximum number of pixels in a row of the frames that the detector sees.
        motion_column: Measure how much moves in each scene on the way, into this column, so that
            ``video.motion_filter`` with this column as ``motion_column`` need not decode the clips again.
        motion_frames: Maximum number of frames of a scene in which motion is measured.
        task_s: Seconds of clips per output task, so that several workers share a long video.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    detector: Detector = "adaptive"
    threshold: float | None = None
    min_scene_s: float = 0.6
    width: int = 256
    motion_column: str | None = None
    motion_frames: int = 250
    task_s: float = TASK_S
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.split_scenes"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True
    spreads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if self.min_scene_s < 0 or self.width < 16 or self.motion_frames < 2 or self.task_s <= 0:  # noqa: PLR2004 - nothing to be seen
            raise ConfigError(
                f"{self.name}: min_scene_s={self.min_scene_s}, width={self.width}, "
                f"motion_frames={self.motion_frames} or task_s={self.task_s} is too small"
            )

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        return [*SPLIT_COLUMNS, *([] if self.motion_column is None else [self.motion_column])]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Load PySceneDetect, so that a missing package is reported at once."""
        quieten_ffmpeg()
        make_detector(self.detector, self.threshold, 1)

    def process(self, task: VideoBatch) -> VideoBatch | list[VideoBatch] | None:
        """Return one row per scene."""
        outcomes = for_each_clip(task, self._source, self._cut)
        batch, spans = keep_readable(task, outcomes, error_type=UNREADABLE)
        clips = fan_out(batch, spans, self.uri_column)
        if self.motion_column is not None:
            motion = [value for each in spans for value in ([None] if each is None else [span.motion for span in each])]
            clips = clips.with_column(self.motion_column, pa.array(motion, pa.float64()))
        return in_tasks(clips, self.task_s) if clips.num_rows or not task.num_rows else None

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    def _cut(self, clip: Clip) -> list[Span]:
        with open_video(clip, self.limits, threads=max(1, int(self.resources.cpus))) as video:
            return detect_scenes(video, clip, self._settings())

    def _settings(self) -> SceneSettings:
        return SceneSettings(
            kind=self.detector,
            threshold=self.threshold,
            min_scene_s=self.min_scene_s,
            width=self.width,
            motion_frames=None if self.motion_column is None else self.motion_frames,
        )
