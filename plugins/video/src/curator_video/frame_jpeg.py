"""Encode frames as JPEG with FFmpeg's own encoder, upright and scaled."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast

import av
from av.codec.context import Flags
from av.video.reformatter import VideoReformatter

from curator_video.display import as_shown, shown_size

if TYPE_CHECKING:
    import numpy as np
    from av.video.codeccontext import VideoCodecContext
    from av.video.frame import VideoFrame
    from numpy.typing import NDArray

__all__ = ["JpegEncoder", "decode_jpeg", "scaled_size"]

_LAMBDA_PER_STEP = 118
"""FFmpeg's unit of quality in one step of its scale (FF_QP2LAMBDA)."""
_BEST_STEP, _WORST_STEP = 2, 31


class JpegEncoder:
    """Makes JPEG files of frames; for one thread.

    Args:
        quality: 1 to 100.
        max_side: Frames with a longer side are scaled down to it; None to keep their size.
    """

    def __init__(self, quality: int, max_side: int | None) -> None:
        self._step = round(_WORST_STEP - (_WORST_STEP - _BEST_STEP) * (quality - 1) / 99)
        self._max_side = max_side
        self._reformatter = VideoReformatter()  # keeps what it has prepared for a size
        self._context: VideoCodecContext | None = None
        self._number = 0

    def encode(self, picture: VideoFrame, pixel_aspect: Fraction | None = None) -> bytes:
        """Return a frame as a JPEG file, as it is shown."""
        shown = shown_size(picture, pixel_aspect)
        width, height = scaled_size(*shown, self._max_side)
        frame = as_shown(
            self._reformatter,
            picture,
            (width, height),
            "yuvj420p",
            dst_colorspace="ITU601",
            dst_color_range="JPEG",
            interpolation="AREA" if width < shown[0] else "BILINEAR",
        )
        context = self._context_for(width, height)
        frame.pts, frame.time_base = self._number, context.time_base
        self._number += 1
        return b"".join(bytes(packet) for packet in context.encode(frame))

    def _context_for(self, width: int, height: int) -> VideoCodecContext:
        if self._context is None or (self._context.width, self._context.height) != (width, height):
            context = av.CodecContext.create("mjpeg", "w")
            context.width, context.height, context.pix_fmt = width, height, "yuvj420p"
            context.time_base = Fraction(1, 25)
            context.thread_count = 1
            context.flags |= Flags.qscale | Flags.bitexact
            context.qmin = context.qmax = self._step
            context.global_quality = self._step * _LAMBDA_PER_STEP
            self._context, self._number = context, 0
        return self._context


def decode_jpeg(content: bytes) -> NDArray[np.uint8]:
    """Return the pixels of a JPEG file: rows, columns, and red, green and blue."""
    context = av.CodecContext.create("mjpeg", "r")
    context.thread_count = 1
    frames = context.decode(av.Packet(content)) or context.decode(None)
    return cast("NDArray[np.uint8]", frames[0].to_ndarray(format="rgb24"))


def scaled_size(width: int, height: int, max_side: int | None) -> tuple[int, int]:
    """Return the size that fits ``max_side`` with the same aspect.

    >>> scaled_size(1280, 720, 320), scaled_size(64, 48, 320)
    ((320, 180), (64, 48))
    """
    longer = max(width, height)
    if max_side is None or longer <= max_side:
        return width, height
    return max(1, round(width * max_side / longer)), max(1, round(height * max_side / longer))
