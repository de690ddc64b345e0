"""Measure how much moves in a clip, in diagonals of the frame per second."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import VideoReformatter

from curator_core.errors import DataError
from curator_video.decoding import ROUGH, decode_frames
from curator_video.frame_jpeg import scaled_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from av.video.frame import VideoFrame
    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo

__all__ = [
    "EXPORT_VECTORS",
    "VECTOR_CODECS",
    "PixelMotion",
    "by_differences",
    "by_vectors",
    "displacement",
    "mean_pixel_motion",
    "mean_vector_motion",
    "vector_length",
]

VECTOR_CODECS = frozenset(
    {"h264", "mpeg4", "mpeg2video", "mpeg1video", "h263", "flv", "msmpeg4v2", "msmpeg4", "wmv1", "wmv2"}
)
"""Codecs whose motion vectors FFmpeg hands out."""

EXPORT_VECTORS = {**ROUGH, "flags2": "+export_mvs"}
"""Options of decoders that hand out motion vectors."""

_USUAL_FPS = 25.0
_SIDE = 160
_NOISE = 1.0
"""Levels of grey by which neighbouring pixels differ at least: keeps noise on plain ground from looking like motion."""


def by_vectors(video: OpenVideo, clip: Clip, max_frames: int) -> float | None:
    """Return the motion that the encoder found, or None where the stream has no vectors.

    Of each frame that was predicted from others, the length of the motion vectors is averaged over its area: blocks
    without a vector count as still. The mean over frames is given in diagonals of the frame, times the frame rate.

    Args:
        video: The file, open.
        clip: The part to look at.
        max_frames: Look at no more.
    """
    if video.stream.codec_context.name not in VECTOR_CODECS:
        return None
    options = {**EXPORT_VECTORS, "skip_idct": "all"}  # the vectors are in the stream: pixels are not needed
    frames = islice(decode_frames(video, clip.start_s, clip.end_s, options=options), max_frames)
    lengths = [vector_length(frame.picture) for frame in frames]
    if not lengths:
        raise DataError("there is no frame in the span", source=video.uri)
    return mean_vector_motion(lengths, video.fps)


def vector_length(picture: VideoFrame) -> float | None:
    """Return the mean length of a frame's motion vectors; NaN where it was predicted without, None for a key frame."""
    vectors = picture.side_data.get("MOTION_VECTORS")
    if vectors is not None:
        return displacement(vectors.to_ndarray(), picture.width, picture.height)
    return None if picture.pict_type == PictureType.I else math.nan


def mean_vector_motion(lengths: Sequence[float | None], fps: float | None) -> float | None:
    """Return the motion of a clip, given the lengths of its frames; None where there were no vectors at all.

    >>> mean_vector_motion([None, 0.25, 0.75, math.nan, 0.0], 10), mean_vector_motion([None, None], 10)
    (2.5, None)
    """
    predicted = [each for each in lengths if each is not None]
    if all(math.isnan(each) for each in predicted):
        return None if len(lengths) > 1 else 0.0
    return float(np.nansum(predicted)) / len(predicted) * (fps or _USUAL_FPS)


def displacement(vectors: NDArray[Any], width: int, height: int) -> float:
    """Return the mean length of the motion vectors of a frame, by area, in diagonals of the frame.

    Args:
        vectors: As PyAV gives them: size of the block and motion in parts of a pixel.
        width: Pixels in a row of the frame.
        height: Rows of the frame.
    """
    scale = np.maximum(vectors["motion_scale"], 1)
    length = np.hypot(vectors["motion_x"] / scale, vectors["motion_y"] / scale)
    area = vectors["w"].astype(np.float64) * vectors["h"]
    whole = max(float(width * height), float(area.sum()))  # a block predicted from two frames has two vectors
    return float((length * area).sum()) / whole / math.hypot(width, height)


def by_differences(video: OpenVideo, clip: Clip, max_frames: int) -> float:
    """Return the motion seen in the pixels, for codecs without vectors.

    Where something moves, a pixel changes by the motion times the slope of the grey levels around it. So the sum of the
    changes from frame to frame in a small grey picture, over the sum of the slopes, estimates the motion in its pixels.
    It has the unit of :func:`by_vectors`, and falls short of it when things move far from frame to frame.

    Args:
        video: The file, open.
        clip: The part to look at.
        max_frames: Look at no more.
    """
    eye = PixelMotion()
    frames = islice(decode_frames(video, clip.start_s, clip.end_s, options=ROUGH), max_frames)
    shifts = [eye.shift(frame.picture) for frame in frames]
    if not shifts:
        raise DataError("there is no frame in the span", source=video.uri)
    return mean_pixel_motion(shifts, video.fps)


def mean_pixel_motion(shifts: Sequence[float], fps: float | None) -> float:
    """Return the motion of a clip, given how far each frame is shifted against the one before it.

    >>> mean_pixel_motion([0.5, 0.01, 0.03], 10)  # the first comes after a frame of another clip
    0.2
    """
    return float(np.mean(shifts[1:])) * (fps or _USUAL_FPS) if len(shifts) > 1 else 0.0


class PixelMotion:
    """Compares frames with the ones before them."""

    def __init__(self) -> None:
        self._small = VideoReformatter()  # keeps what it has prepared for a size
        self._before: NDArray[np.float32] | None = None

    def shift(self, picture: VideoFrame) -> float:
        """Return how far a frame is shifted against the one before it, in diagonals; 0 for the first."""
        width, height = scaled_size(picture.width, picture.height, _SIDE)
        grey = self._small.reformat(picture, width, height, "gray", interpolation="AREA", threads=1).to_ndarray()
        before, pixels = self._before, grey.astype(np.float32)
        self._before = pixels
        if before is None or before.shape != pixels.shape:
            return 0.0
        return _shift(before, pixels) / math.hypot(width, height)


def _shift(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Estimate by how many pixels one picture is shifted against the other."""
    if min(after.shape) < 2:  # noqa: PLR2004 - a slope needs two pixels
        return 0.0
    change = np.abs(after - before).sum()
    down, right = np.gradient(after)
    slope = np.hypot(down, right).sum()
    return float(change / max(slope, _NOISE * after.size))
