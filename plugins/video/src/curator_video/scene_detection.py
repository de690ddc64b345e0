"""Find where scenes begin, with the detectors of PySceneDetect on small frames decoded for the purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import DataError
from curator_video.decoding import ROUGH, decode_frames
from curator_video.motion import (
    EXPORT_VECTORS,
    VECTOR_CODECS,
    PixelMotion,
    VectorMotion,
    mean_motion,
)
from curator_video.spans import spans_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_video.clip import Clip
    from curator_video.decoding import ShownFrame
    from curator_video.motion import Move
    from curator_video.opening import OpenVideo
    from curator_video.spans import Span

__all__ = ["Detector", "MotionMeter", "SceneSettings", "detect_scenes", "make_detector"]

Detector = Literal["adaptive", "content", "threshold"]


def make_detector(kind: Detector, threshold: float | None, min_frames: int) -> Any:
    """Return a detector of PySceneDetect.

    Args:
        kind: ``adaptive`` (change of content against its neighbourhood), ``content`` (change of content) or
            ``threshold`` (fades through black).
        threshold: Score that a frame must exceed to begin a scene; None for PySceneDetect's default.
        min_frames: Shortest scene.
    """
    from scenedetect import AdaptiveDetector, ContentDetector, ThresholdDetector

    given = {} if threshold is None else {"adaptive_threshold" if kind == "adaptive" else "threshold": threshold}
    classes = {"adaptive": AdaptiveDetector, "content": ContentDetector, "threshold": ThresholdDetector}
    return classes[kind](min_scene_len=min_frames, **given)


@dataclass(frozen=True)
class SceneSettings:
    """How scenes are found.

    Args:
        kind: Name of the detector.
        threshold: Score that a frame must exceed to begin a scene; None for PySceneDetect's default.
        min_scene_s: Shortest scene.
        width: Maximum number of pixels in a row of the frames that the detector sees.
        motion_frames: Number of frames of each scene in which motion is measured, too; None for none.
    """

    kind: Detector = "adaptive"
    threshold: float | None = None
    min_scene_s: float = 0.6
    width: int = 256
    motion_frames: int | None = None


def detect_scenes(video: OpenVideo, clip: Clip, settings: SceneSettings) -> list[Span]:
    """Return the scenes of a clip; together they cover it.

    Args:
        video: The file, open.
        clip: The part to look at.
        settings: How.

    Raises:
        DataError: There is no frame, or it cannot be decoded.
    """
    from av.video.reformatter import VideoReformatter
    from scenedetect import FrameTimecode

    rate = Fraction(video.fps or 25).limit_denominator(1001)
    detector = make_detector(settings.kind, settings.threshold, max(1, round(settings.min_scene_s * rate)))
    meter = None if settings.motion_frames is None else MotionMeter(video)
    small = VideoReformatter()  # one for all frames: it keeps what it has prepared for their size
    times: list[float] = []
    cuts: set[int] = set()
    columns = rows = 0
    end_s = 0.0
    options = ROUGH if meter is None else meter.options
    for frame in decode_frames(video, clip.start_s, clip.end_s, options=options):
        picture = frame.picture
        if not times:  # all frames get the size of the first: some files change it on the way, and detectors compare
            columns = min(settings.width, picture.width)
            rows = max(1, round(picture.height * columns / picture.width))
        image = small.reformat(picture, columns, rows, "bgr24", interpolation="FAST_BILINEAR", threads=1).to_ndarray()
        cuts.update(cut.frame_num for cut in detector.process_frame(FrameTimecode(len(times), rate), image))
        if meter is not None:
            meter.add(frame)
        times.append(frame.time_s)
        end_s = frame.end_s
    if not times:
        raise DataError("there is no frame in the span", source=video.uri)
    cuts.update(cut.frame_num for cut in detector.post_process(FrameTimecode(len(times) - 1, rate)))
    times[0] = clip.start_s
    spans = spans_between(times, sorted(cuts), end_s if clip.end_s is None else min(end_s, clip.end_s))
    return spans if meter is None else meter.measured(spans, settings.motion_frames)


class MotionMeter:
    """Measures the motion of every frame while they pass, as :mod:`curator_video.motion` does for a clip."""

    def __init__(self, video: OpenVideo) -> None:
        has_vectors = video.stream.codec_context.name in VECTOR_CODECS
        self._eye: VectorMotion | PixelMotion = VectorMotion() if has_vectors else PixelMotion()
        self._moves: list[Move | None] = []
        self.options = EXPORT_VECTORS if has_vectors else ROUGH

    def add(self, frame: ShownFrame) -> None:
        """Look at the next frame."""
        self._moves.append(self._eye.move(frame))

    def measured(self, spans: Sequence[Span], max_frames: int | None) -> list[Span]:
        """Return the spans with their motion; None for one whose frames have no vectors, as key frames alone have not.

        Args:
            spans: Spans that together have all frames.
            max_frames: Look at no more frames of a span.
        """
        out: list[Span] = []
        begin = 0
        for span in spans:
            end = begin + (span.num_frames or 0)
            out.append(replace(span, motion=mean_motion(self._moves[begin:end][:max_frames])))
            begin = end
        return out
