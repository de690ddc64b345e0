"""Ask a video container what it holds, without decoding a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import av

from curator_core.errors import DataError

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

__all__ = ["EXTENSIONS", "VideoInfo", "probe_video", "quieten_ffmpeg"]

EXTENSIONS = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".ogv", ".wmv", ".3gp",
)  # fmt: skip
"""What files in a folder are taken for videos."""

OPEN_OPTIONS = {
    # Formats that hold the video themselves. Play lists (HLS, DASH, concat) would make FFmpeg open other files.
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,ogg,asf",
    "protocol_whitelist": "file",
}

OPEN_TIMEOUT_S = 60.0
"""Longest time to open one file; damaged ones can make FFmpeg search for very long."""


@dataclass(frozen=True)
class VideoInfo:
    """What a video file says about itself; None where it does not say.

    Args:
        width: Pixels in a row.
        height: Rows of pixels.
        fps: Frames per second, on average.
        duration_s: Seconds from the first frame to the last.
        codec: FFmpeg's name of the codec.
        num_frames: Frames, as the container counts them, else from duration and rate.
        has_audio: Whether there is a sound track.
    """

    width: int
    height: int
    fps: float | None
    duration_s: float | None
    codec: str
    num_frames: int | None
    has_audio: bool


def probe_video(path: str) -> VideoInfo:
    """Return what the first video stream of a local file says about itself.

    Raises:
        DataError: The file cannot be opened as a video, or holds none.
    """
    try:
        # "file:" keeps FFmpeg from reading a protocol into a path such as "concat:a|b".
        with av.open(f"file:{path}", options=OPEN_OPTIONS, timeout=OPEN_TIMEOUT_S) as container:
            if not container.streams.video:
                raise DataError("the file has no video stream", source=path)
            return _describe(container, container.streams.video[0])
    except (av.FFmpegError, ValueError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"the file cannot be opened as a video: {reason}", source=path) from error


def quieten_ffmpeg() -> None:
    """Log to the terminal by FFmpeg's own means, and fatal errors only; to be called when a worker starts.

    PyAV's callback takes the GIL from FFmpeg's threads, which can lock up a process that uses several.
    """
    av.logging.restore_default_callback()
    av.logging.set_libav_level(av.logging.FATAL)


def _describe(container: InputContainer, stream: VideoStream) -> VideoInfo:
    context: VideoCodecContext | None = stream.codec_context
    if context is None or context.width <= 0 or context.height <= 0:
        path = container.name.removeprefix("file:")
        raise DataError("the video stream has an unknown codec, or no size", source=path)
    rate = stream.average_rate or stream.guessed_rate
    fps = float(rate) if rate else None
    duration_s = None
    if stream.duration is not None and stream.time_base is not None:
        duration_s = float(stream.duration * stream.time_base)
    elif container.duration is not None:
        duration_s = container.duration / av.time_base
    num_frames: int | None = stream.frames or None
    if num_frames is None and fps is not None and duration_s is not None:
        num_frames = round(duration_s * fps)
    return VideoInfo(
        width=context.width,
        height=context.height,
        fps=fps,
        duration_s=duration_s,
        codec=context.name,
        num_frames=num_frames,
        has_audio=bool(container.streams.audio),
    )
