"""Measure how much moves in a clip, in diagonals of the frame per second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import VideoReformatter

from curator_core.sdk import DataError
from curator_video.decoding import ROUGH, decode_frames
from curator_video.display import side_data
from curator_video.frame_jpeg import scaled_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.decoding import ShownFrame
    from curator_video.opening import OpenVideo

__all__ = [
    "EXPORT_VECTORS",
    "VECTOR_CODECS",
    "Move",
    "PixelMotion",
    "VectorMotion",
    "by_differences",
    "by_vectors",
    "displacement",
    "mean_motion",
]

VECTOR_CODECS = frozenset(
    {"h264", "mpeg4", "mpeg2video", "mpeg1video", "h263", "flv", "msmpeg4v2", "msmpeg4", "wmv1", "wmv2"}
)
"""Codecs whose motion vectors FFmpeg hands out."""

EXPORT_VECTORS = {**ROUGH, "flags2": "+export_mvs"}
"""Options of decoders that hand out motion vectors."""

_BETWEEN = frozenset({PictureType.B, PictureType.BI})
_SIDE = 160
_NOISE = 1.0
"""Levels of grey by which neighbouring pixels differ at least: keeps noise on plain ground from looking like motion."""


def by_vectors(video: OpenVideo, clip: Clip, max_frames: int) -> float | None:
    """Return the motion that the encoder found, or None where the stream has no vectors.

    See :class:`VectorMotion`.

    Args:
        video: The file, open.
        clip: The part to look at.
        max_frames: Look at no more.
    """
    if video.stream.codec_context.name not in VECTOR_CODECS:
        return None
    options = {**EXPORT_VECTORS, "skip_idct": "all"}  # the vectors are in the stream: pixels are not needed
    frames = islice(decode_frames(video, clip.start_s, clip.end_s, options=options), max_frames)
    eye = VectorMotion()
    moves = [eye.move(frame) for frame in frames]
    if not moves:
        raise DataError("there is no frame in the span", source=video.uri)
    return mean_motion(moves)


@dataclass(frozen=True, slots=True)
class Move:
    """How far the content of a frame has moved.

    Args:
        length: By so many diagonals of the frame; NaN where the encoder says nothing, None where it did not look.
        seconds: Since the frame that it is compared with.
    """

    length: float | None
    seconds: float


class VectorMotion:
    """Reads the motion off frames that were predicted from an earlier one.

    The length of their vectors is averaged over their area: blocks without a vector count as still. B-frames, which are
    predicted from both sides, are skipped: the vectors of the next other frame include their motion.
    """

    def __init__(self) -> None:
        self._before_s = 0.0

    def move(self, frame: ShownFrame) -> Move | None:
        """Return how far a frame has moved since the last one that is not a B-frame; None for a B-frame."""
        picture = frame.picture
        if picture.pict_type in _BETWEEN:
            return None
        seconds, self._before_s = frame.time_s - self._before_s, frame.time_s
        if picture.pict_type == PictureType.I:
            return Move(None, seconds)
        vectors = side_data(picture, "MOTION_VECTORS")
        length = math.nan if vectors is None else displacement(vectors.to_ndarray(), picture.width, picture.height)
        return Move(length, seconds)


def mean_motion(moves: Sequence[Move | None]) -> float | None:
    """Return the motion of a clip in diagonals per second; None where it was not measured.

    Args:
        moves: Of its frames. The first is left out: it has moved against a frame of another clip.

    >>> mean_motion([Move(9.0, 0.1), Move(0.25, 0.1), None, Move(0.75, 0.2), Move(None, 0.1), Move(math.nan, 0.1)])
    2.5
    >>> mean_motion([Move(None, 0), Move(None, 0.1)]) is None
    True
    """
    if len(moves) == 1:
        return 0.0
    compared = [each for each in moves if each is not None][1:]
    looked = [(each.length, each.seconds) for each in compared if each.length is not None and each.seconds > 0]
    if all(math.isnan(length) for length, _ in looked):
        return None
    return float(np.nansum([length for length, _ in looked])) / sum(seconds for _, seconds in looked)


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
    moves = [eye.move(frame) for frame in frames]
    if not moves:
        raise DataError("there is no frame in the span", source=video.uri)
    return mean_motion(moves) or 0.0


class PixelMotion:
    """Compares frames with the ones before them."""

    def __init__(self) -> None:
        self._small = VideoReformatter()  # keeps what it has prepared for a size
        self._before: NDArray[np.float32] | None = None
        self._before_s = 0.0

    def move(self, frame: ShownFrame) -> Move:
        """Return how far a frame has moved against the one before it; 0 for the first."""
        picture = frame.picture
        width, height = scaled_size(picture.width, picture.height, _SIDE)
        grey = self._small.reformat(picture, width, height, "gray", interpolation="AREA", threads=1).to_ndarray()
        before, pixels = self._before, grey.astype(np.float32)
        seconds = frame.time_s - self._before_s
        self._before, self._before_s = pixels, frame.time_s
        if before is None or before.shape != pixels.shape:
            return Move(0.0, seconds)
        return Move(_shift(before, pixels) / math.hypot(width, height), seconds)


def _shift(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Estimate by how many pixels one picture is shifted against the other."""
    if min(after.shape) < 2:  # noqa: PLR2004 - a slope needs two pixels
        return 0.0
    change = np.abs(after - before).sum()
    down, right = np.gradient(after)
    slope = np.hypot(down, right).sum()
    return float(change / max(slope, _NOISE * after.size))
