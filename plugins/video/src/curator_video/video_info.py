"""Read the properties of a video file, and verify them as closely as requested."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import av

from curator_core.sdk import DataError
from curator_video.decoding import check_end, check_packet, declared_end_s, decode_frames
from curator_video.display import shown_size
from curator_video.limits import VideoLimits
from curator_video.opening import open_video

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.video.frame import VideoFrame

    from curator_video.clip import Clip
    from curator_video.decoding import ShownFrame
    from curator_video.opening import OpenVideo

__all__ = ["EXTENSIONS", "Verify", "VideoInfo", "expected_end_s", "measured_end_s", "probe_video"]

EXTENSIONS = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".ogv", ".wmv", ".3gp",
)  # fmt: skip
"""Extensions of video files in folders."""

Verify = Literal["first_frame", "packets", "frames"]
"""How closely a file is looked at: its first frame is decoded; every packet is read; every frame is decoded."""


@dataclass(frozen=True)
class VideoInfo:
    """The declared properties of a video file; None where they are missing.

    Args:
        width: Pixels in a row of the picture as it is shown: upright, with square pixels.
        height: Rows of pixels of that picture.
        rotation: Degrees by which players turn the stored picture, counterclockwise: 0, 90, 180 or 270.
        fps: Frames per second, on average.
        duration_s: Seconds from the first frame to the end of the last.
        codec: FFmpeg's name of the codec.
        num_frames: Frames, as the container counts them, else from duration and rate.
        has_audio: Whether there is a sound track.
    """

    width: int
    height: int
    rotation: int
    fps: float | None
    duration_s: float | None
    codec: str
    num_frames: int | None
    has_audio: bool


def probe_video(clip: Clip, limits: VideoLimits | None = None, *, verify: Verify = "first_frame") -> VideoInfo:
    """Return the declared properties of a video.

    Args:
        clip: The file.
        limits: Limits on size and time.
        verify: How closely to look. All but ``first_frame`` also count the frames and measure the duration.

    Raises:
        DataError: The file cannot be opened as a video, holds none, or differs from its declared properties.
    """
    limits = limits or VideoLimits()
    with open_video(clip, limits) as video:
        frames = decode_frames(video)
        first = next(frames, None)
        if first is None:
            raise DataError("not one frame can be decoded", source=clip.uri)
        info = _info(video, first.picture)
        if verify == "frames":
            info = _counted(info, first, frames)
    if verify == "packets":
        with open_video(clip, limits) as video:
            duration_s, num_frames = _read_packets(video)
            info = replace(info, duration_s=duration_s, num_frames=num_frames)
    if info.duration_s is not None and info.duration_s > limits.max_duration_s:
        raise DataError(
            f"the video lasts {info.duration_s:,.0f} s, more than max_duration_s={limits.max_duration_s:g}",
            source=clip.uri,
        )
    return info


def _counted(info: VideoInfo, first: ShownFrame, others: Iterator[ShownFrame]) -> VideoInfo:
    """Decode every frame; return the number of frames and the duration that were found."""
    count, last = 1, first
    for frame in others:
        count, last = count + 1, frame
    return replace(info, duration_s=last.end_s, num_frames=count)


def expected_end_s(video: OpenVideo, clip: Clip) -> float:
    """Return when a clip ends: as its row says, else as the file says, else as reading it through tells."""
    end_s = clip.end_s if clip.end_s is not None else _described_duration_s(video)
    if end_s is None:
        end_s = measured_end_s(video)
        video.has_moved = True
    return end_s


def measured_end_s(video: OpenVideo) -> float:
    """Read every packet, without decoding; return when the last frame ends."""
    return _read_packets(video)[0]


def _read_packets(video: OpenVideo) -> tuple[float, int]:
    """Read every packet; return when the last frame ends, and how many frames there are.

    Raises:
        DataError: A packet is damaged, or the file ends earlier than it says.
    """
    end = count = 0
    for packet in video.container.demux(video.stream):
        video.deadline.check()
        check_packet(packet, video)
        if packet.size:
            count += 1
            shown = packet.pts if packet.pts is not None else packet.dts
            if shown is None:
                shown = round(count * video.frame_s / video.time_base)
            end = max(end, shown + (packet.duration or round(video.frame_s / video.time_base)))
    end_s = float((end - video.first_pts) * video.time_base)
    check_end(video, end_s)
    return end_s, count


def _described_duration_s(video: OpenVideo) -> float | None:
    declared = declared_end_s(video)
    if declared is None and video.container.duration is not None and video.container.duration > 0:
        return video.container.duration / av.time_base
    return declared


def _info(video: OpenVideo, picture: VideoFrame) -> VideoInfo:
    duration_s, num_frames = _described_duration_s(video), video.stream.frames or None
    width, height = shown_size(picture, video.pixel_aspect)
    fps = video.fps
    if num_frames is None and fps is not None and duration_s is not None:
        num_frames = round(duration_s * fps)
    return VideoInfo(
        width=width,
        height=height,
        rotation=picture.rotation % 360,
        fps=fps,
        duration_s=duration_s,
        codec=video.stream.codec_context.name,
        num_frames=num_frames,
        has_audio=video.audio is not None,
    )
