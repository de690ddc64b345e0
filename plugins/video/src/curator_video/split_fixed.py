"""Cut videos into clips of one length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from curator_core.sdk import ConfigError, ProcessingStage, check_allowed_locations, keep_readable, report
from curator_video.batch import VideoBatch
from curator_video.clip import VideoSource
from curator_video.fan_out import SPLIT_COLUMNS, TASK_S, fan_out, in_tasks
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg
from curator_video.row_work import UNREADABLE, for_each_clip
from curator_video.spans import fixed_spans
from curator_video.video_info import measured_end_s

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo
    from curator_video.clip import Clip
    from curator_video.spans import Span

__all__ = ["SplitFixed"]


@dataclass
class SplitFixed(ProcessingStage[VideoBatch, VideoBatch]):
    """Cut each video, or clip, into clips of ``length_s`` seconds; nothing is decoded or copied.

    With the default stride and ``rest`` the clips cover the source without gap or overlap. A file that does not say how
    long it is (``end_s`` is null) is read once, without decoding, to find out.

    >>> batch = VideoBatch(data={"uri": ["talk.mp4"], "start_s": [0.0], "end_s": [25.0]})
    >>> SplitFixed(length_s=10).process(batch).data.select(["start_s", "end_s"]).to_pylist()
    [{'start_s': 0.0, 'end_s': 10.0}, {'start_s': 10.0, 'end_s': 20.0}, {'start_s': 20.0, 'end_s': 25.0}]

    Args:
        length_s: Length of a clip.
        stride_s: From the beginning of a clip to that of the next; ``length_s``, where None.
        min_rest_s: A shorter rest at the end gets no clip of its own.
        rest: ``join`` adds such a rest to the clip before it, ``drop`` leaves it out and counts it.
        task_s: Seconds of clips per output task, so that several workers share a long video.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    length_s: float = 10.0
    stride_s: float | None = None
    min_rest_s: float = 2.0
    rest: Literal["join", "drop"] = "join"
    task_s: float = TASK_S
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.split_fixed"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True
    spreads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        if min(self.length_s, self.stride_s or 1.0, self.task_s) <= 0 or self.stride_s == 0 or self.min_rest_s < 0:
            raise ConfigError(
                f"{self.name}: length_s={self.length_s}, stride_s={self.stride_s} and task_s={self.task_s} must be "
                f"positive, min_rest_s={self.min_rest_s} not negative"
            )

    def inputs(self) -> Columns:
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        return list(SPLIT_COLUMNS)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        quieten_ffmpeg()

    def process(self, task: VideoBatch) -> VideoBatch | list[VideoBatch] | None:
        """Return one row per clip."""
        outcomes = for_each_clip(task, self._source, self._cut)
        batch, spans = keep_readable(task, outcomes, error_type=UNREADABLE)
        for each in spans:
            if each is not None and not each:
                report().drop("too_short")
        spans = self._with_frames(batch, spans)
        clips = fan_out(batch, spans, self.uri_column)
        return in_tasks(clips, self.task_s) if clips.num_rows or not task.num_rows else None

    @property
    def _source(self) -> VideoSource:
        return VideoSource(self.uri_column, self.bytes_column, self.allowed_locations)

    def _cut(self, clip: Clip) -> list[Span]:
        end_s = clip.end_s
        if end_s is None:
            with open_video(clip, self.limits) as video:
                end_s = measured_end_s(video)
        return fixed_spans(
            clip.start_s,
            min(end_s, self.limits.max_duration_s),
            length_s=self.length_s,
            stride_s=self.stride_s or self.length_s,
            min_rest_s=self.min_rest_s,
            keep_rest=self.rest == "join",
        )

    def _with_frames(self, batch: VideoBatch, spans: list[list[Span] | None]) -> list[list[Span] | None]:
        """Estimate the number of frames from the rate, where it is known."""
        if "fps" not in batch.columns:
            return spans
        return [
            each
            if each is None or fps is None
            else [replace(span, num_frames=round((span.end_s - span.start_s) * fps)) for span in each]
            for each, fps in zip(spans, batch.series("fps").to_list(), strict=True)
        ]
