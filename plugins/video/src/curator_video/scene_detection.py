"""Find where scenes begin, with the detectors of PySceneDetect on small frames decoded for the purpose."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from curator_core.errors import DataError
from curator_video.decoding import ROUGH, decode_frames
from curator_video.spans import spans_between

if TYPE_CHECKING:
    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo
    from curator_video.spans import Span

__all__ = ["Detector", "detect_scenes", "make_detector"]

Detector = Literal["adaptive", "content", "threshold"]


def make_detector(kind: Detector, threshold: float | None, min_frames: int) -> Any:
    """Return a detector of PySceneDetect.

    Args:
        kind: ``adaptive`` (change of content against its neighbourhood), ``content`` (change of content) or
            ``threshold`` (fades through black).
        threshold: What a frame must exceed to begin a scene; None for PySceneDetect's own value.
        min_frames: Shortest scene.
    """
    from scenedetect import AdaptiveDetector, ContentDetector, ThresholdDetector

    given = {} if threshold is None else {"adaptive_threshold" if kind == "adaptive" else "threshold": threshold}
    classes = {"adaptive": AdaptiveDetector, "content": ContentDetector, "threshold": ThresholdDetector}
    return classes[kind](min_scene_len=min_frames, **given)


def detect_scenes(
    video: OpenVideo, clip: Clip, *, kind: Detector, threshold: float | None, min_scene_s: float, width: int
) -> list[Span]:
    """Return the scenes of a clip; together they cover it.

    Args:
        video: The file, open.
        clip: The part to look at.
        kind: Name of the detector.
        threshold: What a frame must exceed to begin a scene.
        min_scene_s: Shortest scene.
        width: Most pixels in a row of the frames that the detector sees.

    Raises:
        DataError: There is no frame, or it cannot be decoded.
    """
    from av.video.reformatter import VideoReformatter
    from scenedetect import FrameTimecode

    rate = Fraction(video.fps or 25).limit_denominator(1001)
    detector = make_detector(kind, threshold, max(1, round(min_scene_s * rate)))
    small = VideoReformatter()  # one for all frames: it keeps what it has prepared for their size
    times: list[float] = []
    cuts: set[int] = set()
    end_s = 0.0
    for frame in decode_frames(video, clip.start_s, clip.end_s, options=ROUGH):
        picture = frame.picture
        columns = min(width, picture.width)
        rows = max(1, round(picture.height * columns / picture.width))
        image = small.reformat(picture, columns, rows, "bgr24", interpolation="FAST_BILINEAR", threads=1).to_ndarray()
        cuts.update(cut.frame_num for cut in detector.process_frame(FrameTimecode(len(times), rate), image))
        times.append(frame.time_s)
        end_s = frame.end_s
    if not times:
        raise DataError("there is no frame in the span", source=video.uri)
    cuts.update(cut.frame_num for cut in detector.post_process(FrameTimecode(len(times) - 1, rate)))
    times[0] = clip.start_s
    return spans_between(times, sorted(cuts), end_s if clip.end_s is None else min(end_s, clip.end_s))
