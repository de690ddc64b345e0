"""Open a video: local files only, formats that hold their video themselves, sizes within the limits."""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import av

from curator_core.sdk import DataError, RowFile
from curator_video.limits import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.stream import VideoStream

    from curator_video.clip import Clip
    from curator_video.limits import VideoLimits

__all__ = ["OpenVideo", "open_video", "quieten_ffmpeg"]

_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,ogg,asf,gif"
"""Play lists (HLS, DASH, concat) are not among them: they would make FFmpeg open other files."""
# What FFmpeg calls the formats that need care: see the properties of OpenVideo.
_SEQUENTIAL = frozenset({"mpeg", "mpegvideo"})
_WITHOUT_INDEX = frozenset({"mpegts", *_SEQUENTIAL})
_COUNT_FROM_ZERO = frozenset({"matroska,webm", "asf"})
_AVI = "avi"
_ALIGNED = 2
"""How many times as many pixels as are shown a decoder may allocate: sizes are rounded up to whole blocks."""
_ERRORS = (av.FFmpegError, ValueError, UnicodeError, OverflowError)


@dataclass
class OpenVideo:
    """A video that is open for reading.

    Args:
        container: The file.
        stream: Its video stream: the first that is not a cover picture.
        uri: Its name, for messages.
        deadline: When work on it must end.
        first_pts: Time stamp of the first frame: all times are counted from there.
        has_moved: Whether something was read, so that the file is not at its beginning any more.
    """

    container: InputContainer
    stream: VideoStream
    uri: str
    deadline: Deadline
    first_pts: int
    has_moved: bool = False

    @property
    def audio(self) -> AudioStream | None:
        """The first sound track."""
        return next(iter(self.container.streams.audio), None)

    @property
    def time_base(self) -> Fraction:
        """Seconds in a unit of the video stream's time stamps."""
        return self.stream.time_base or Fraction(1, av.time_base)

    @property
    def is_sequential(self) -> bool:
        """Whether it can be read from its beginning only: after a jump, frames get times of others."""
        return self.container.format.name in _SEQUENTIAL

    @property
    def has_index(self) -> bool:
        """Whether the file knows where its key frames are."""
        return self.container.format.name not in _WITHOUT_INDEX

    @property
    def offset_s(self) -> float:
        """Seconds that the lengths which the file states begin before its first frame."""
        return float(self.first_pts * self.time_base) if self.container.format.name in _COUNT_FROM_ZERO else 0.0

    @property
    def pixel_aspect(self) -> Fraction | None:
        """Width of a stored pixel over its height; None where the file does not say."""
        return self.stream.sample_aspect_ratio or None

    @property
    def fps(self) -> float | None:
        """Frames per second, on average."""
        rate = self.stream.average_rate or self.stream.guessed_rate
        return float(rate) if rate else None

    @property
    def frame_s(self) -> float:
        """Seconds that a frame is shown, where the file does not say it of each."""
        return 1 / (self.fps or 25.0)


@contextmanager
def open_video(clip: Clip, limits: VideoLimits, *, threads: int = 1) -> Iterator[OpenVideo]:
    """Open the file of a clip, and always close it; raise errors of FFmpeg as errors of the data.

    Args:
        clip: The clip to open.
        limits: Limits on size and time.
        threads: Threads that decode.

    Raises:
        DataError: It cannot be opened or decoded, holds no video, or is beyond a limit.
    """
    deadline = Deadline(limits.timeout_s, source=clip.uri)
    what = "opened as a video"
    try:
        with _open(clip, limits) as container:
            stream = _video_stream(container, clip.uri, limits)
            context = stream.codec_context
            context.options = {"max_pixels": str(_ALIGNED * limits.max_pixels)}
            context.thread_count = threads
            if threads > 1:
                stream.thread_type = "AUTO"
            what = "decoded"
            video = OpenVideo(container, stream, clip.uri, deadline, stream.start_time or 0)
            if container.format.name == _AVI:
                _find_first_frame(video)
            yield video
    except _ERRORS as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(f"the file cannot be {what}: {reason}", source=clip.uri) from error


def quieten_ffmpeg() -> None:
    """Log to the terminal by FFmpeg's own means, and fatal errors only; to be called when a worker starts.

    PyAV's callback takes the GIL from FFmpeg's threads, which can lock up a process that uses several.
    """
    av.logging.restore_default_callback()
    av.logging.set_libav_level(av.logging.FATAL)


def _open(clip: Clip, limits: VideoLimits) -> InputContainer:
    # "file:" keeps FFmpeg from reading a protocol into a path such as "concat:a|b".
    file = f"file:{_path(clip)}" if clip.content is None else io.BytesIO(clip.content)
    return av.open(
        file,
        mode="r",
        options={
            "format_whitelist": _FORMATS,
            "protocol_whitelist": "file",
            "max_pixels": str(_ALIGNED * limits.max_pixels),
        },
        metadata_errors="replace",
        timeout=limits.timeout_s,
    )


def _find_first_frame(video: OpenVideo) -> None:
    """Correct the time of the first frame: AVI files fill the time before it with empty packets."""
    first = next((packet for packet in video.container.demux(video.stream) if packet.size), None)
    if first is not None and first.pts is not None:
        video.first_pts = first.pts
    video.has_moved = True


def _path(clip: Clip) -> str:
    """Return the path of a clip's file, which FFmpeg opens itself: a regular file that the row may name."""
    return (clip.file or RowFile(clip.uri, clip.uri)).local_path()


def _video_stream(container: InputContainer, uri: str, limits: VideoLimits) -> VideoStream:
    if len(container.streams) > limits.max_streams:
        raise DataError(
            f"the file has {len(container.streams)} streams, more than max_streams={limits.max_streams}", source=uri
        )
    cover = av.stream.Disposition.attached_pic
    stream = next((each for each in container.streams.video if not each.disposition & cover), None)
    if stream is None:
        raise DataError("the file has no video stream", source=uri)
    context = stream.codec_context
    if context is None or context.width <= 0 or context.height <= 0:
        raise DataError(
            f"the video stream has an unknown codec, no size, or frames larger than max_pixels={limits.max_pixels}",
            source=uri,
        )
    if context.width * context.height > limits.max_pixels:
        raise DataError(
            f"frames of {context.width}x{context.height} are larger than max_pixels={limits.max_pixels}", source=uri
        )
    return stream
