"""Measure how much moves in a clip, in diagonals of the frame per second."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import VideoReformatter

from curator_core.errors import DataError
from curator_video.decoding import ROUGH, decode_frames
from curator_video.frame_jpeg import scaled_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo

__all__ = ["VECTOR_CODECS", "by_differences", "by_vectors", "displacement"]

VECTOR_CODECS = frozenset(
    {"h264", "mpeg4", "mpeg2video", "mpeg1video", "h263", "flv", "msmpeg4v2", "msmpeg4", "wmv1", "wmv2"}
)
"""Codecs whose motion vectors FFmpeg hands out."""

# The vectors are in the stream: neither the pixels nor the filter on them are needed.
_VECTORS_ONLY = {**ROUGH, "flags2": "+export_mvs", "skip_idct": "all"}
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
    lengths: list[float] = []
    count = with_vectors = 0
    for frame in decode_frames(video, clip.start_s, clip.end_s, options=_VECTORS_ONLY):
        count += 1
        picture = frame.picture
        vectors = picture.side_data.get("MOTION_VECTORS")
        if vectors is not None:
            with_vectors += 1
            lengths.append(displacement(vectors.to_ndarray(), picture.width, picture.height))
        elif picture.pict_type != PictureType.I:
            lengths.append(0.0)
        if count >= max_frames:
            break
    if not count:
        raise DataError("there is no frame in the span", source=video.uri)
    if not with_vectors and count > 1:
        return None
    return float(np.mean(lengths)) * (video.fps or 25.0) if lengths else 0.0


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
    small = VideoReformatter()
    before: NDArray[np.float32] | None = None
    moved: list[float] = []
    for number, frame in enumerate(decode_frames(video, clip.start_s, clip.end_s, options=ROUGH), start=1):
        picture = frame.picture
        width, height = scaled_size(picture.width, picture.height, _SIDE)
        grey = small.reformat(picture, width, height, "gray", interpolation="AREA", threads=1).to_ndarray()
        pixels = grey.astype(np.float32)
        if before is not None and before.shape == pixels.shape:
            moved.append(_shift(before, pixels) / math.hypot(width, height))
        before = pixels
        if number >= max_frames:
            break
    if before is None:
        raise DataError("there is no frame in the span", source=video.uri)
    return float(np.mean(moved)) * (video.fps or 25.0) if moved else 0.0


def _shift(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Estimate by how many pixels one picture is shifted against the other."""
    if min(after.shape) < 2:  # noqa: PLR2004 - a slope needs two pixels
        return 0.0
    change = np.abs(after - before).sum()
    down, right = np.gradient(after)
    slope = np.hypot(down, right).sum()
    return float(change / max(slope, _NOISE * after.size))
