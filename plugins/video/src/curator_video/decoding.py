"""Decode the frames of a part of a video, in the order they are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

    from curator_video.opening import OpenVideo

__all__ = [
    "ROUGH",
    "TIME_SLACK_S",
    "Needed",
    "ShownFrame",
    "check_end",
    "check_packet",
    "declared_end_s",
    "decode_frames",
    "seek_to",
]

TIME_SLACK_S = 1e-6
"""Times that differ by less are equal: spans travel as floating-point seconds, files count in ticks."""
ROUGH = {"skip_loop_filter": "all"}
"""Decode without the filter that smooths block edges: a third cheaper for H.264, and good enough to measure frames."""
_MISSING_S = 0.5
"""A file that ends so much earlier than it says is truncated; less happens with sound files and careless muxers."""
_STEPS_BACK_S = (0.0, 2.0, 10.0)
"""How far before a time to look for a key frame; formats without an index only guess where one is."""


@dataclass(slots=True)
class Needed:
    """From when on all frames are needed; of those before it only what others depend on is decoded. May be raised."""

    time_s: float


@dataclass(frozen=True, slots=True)
class ShownFrame:
    """A decoded frame.

    Args:
        picture: The frame, as the decoder has made it.
        time_s: When it is shown, counted from the first frame of the file.
        end_s: When it is replaced, as far as the file says.
    """

    picture: VideoFrame
    time_s: float
    end_s: float


def decode_frames(
    video: OpenVideo,
    start_s: float = 0.0,
    end_s: float | None = None,
    *,
    options: Mapping[str, str] | None = None,
    needed: Needed | None = None,
) -> Iterator[ShownFrame]:
    """Yield the frames that are shown first at ``start_s`` or later and before ``end_s``.

    Args:
        video: The video.
        start_s: First time.
        end_s: Time to stop at; None for the end of the file.
        options: More options for the decoder.
        needed: Lets the caller skip frames: decoding begins at the key frame before this time, and those that end
            before it may be left out.

    Raises:
        DataError: A packet or frame is damaged, the file ends before the span does, or the time is up.
    """
    video.stream.codec_context.options = {**video.stream.codec_context.options, **(options or {})}
    limit = math.inf if end_s is None else end_s - TIME_SLACK_S
    reached = 0.0
    for frame in _from_key_frame(video, needed or Needed(start_s)):
        if frame.time_s >= limit:
            return
        reached = frame.end_s
        if frame.time_s < start_s - TIME_SLACK_S:
            continue
        if frame.picture.is_corrupt:
            raise DataError(f"the frame at {frame.time_s:.3f} s is damaged", source=video.uri)
        yield frame
    check_end(video, reached, end_s)


def check_end(video: OpenVideo, reached_s: float, end_s: float | None = None) -> None:
    """Refuse a file that ends earlier than it says, and before the end of a span.

    Raises:
        DataError: It is truncated.
    """
    declared = declared_end_s(video)
    if declared is None:
        return
    expected = declared if end_s is None else min(end_s, declared)
    if reached_s < expected - max(_MISSING_S, 3 * video.frame_s):
        raise DataError(f"the file ends after {reached_s:.2f} of {declared:.2f} s: it is truncated", source=video.uri)


def check_packet(packet: Packet[Any], video: OpenVideo) -> None:
    """Refuse a packet that the container knows to be damaged or cut off.

    Raises:
        DataError: It is.
    """
    if packet.is_corrupt:
        raise DataError("a packet of the file is damaged or cut off", source=video.uri)


def seek_to(video: OpenVideo, time_s: float) -> None:
    """Go to the last key frame at or before a time, as far as the file's index knows."""
    offset = video.first_pts + math.floor(max(0.0, time_s) / video.time_base)
    video.container.seek(offset, stream=video.stream, backward=True)


def declared_end_s(video: OpenVideo) -> float | None:
    """Return when the last frame ends as the file says of the video stream itself; None where it does not say."""
    stream = video.stream
    if stream.duration is not None and stream.duration > 0:
        return float(stream.duration * video.time_base)
    return _tagged_duration_s(stream)


def _tagged_duration_s(stream: VideoStream) -> float | None:
    """Return what the tag says that Matroska files have for each stream, such as ``00:00:05.280000000``."""
    try:
        hours, minutes, seconds = stream.metadata.get("DURATION", "").split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return None


def _from_key_frame(video: OpenVideo, needed: Needed) -> Iterator[ShownFrame]:
    """Decode from a key frame at or before a time; frames before it come out, too."""
    start_s = needed.time_s
    if start_s <= TIME_SLACK_S:
        if video.has_moved:
            seek_to(video, 0.0)
        yield from _decode(video, needed)
        return
    for back_s in (*_STEPS_BACK_S, math.inf):
        seek_to(video, start_s - back_s)
        frames = _decode(video, needed)
        first = next(frames, None)
        is_early_enough = first is not None and first.time_s <= start_s + TIME_SLACK_S
        if is_early_enough or start_s - back_s <= 0:
            break
    if first is not None:
        yield first
    yield from frames


def _decode(video: OpenVideo, needed: Needed) -> Iterator[ShownFrame]:
    """Decode from where the file is. Frames that no other needs and that end before ``needed`` are left out."""
    context = video.stream.codec_context
    first_pts, frame_s = video.first_pts, video.frame_s
    ticks, seconds = video.time_base.denominator, video.time_base.numerator
    end_s = 0.0
    skips = False
    context.skip_frame = "DEFAULT"  # whoever decoded before may have stopped while it skipped
    video.has_moved = True
    for packet in video.container.demux(video.stream):
        video.deadline.check()
        check_packet(packet, video)
        pts = packet.pts
        shown_s = packet.duration * seconds / ticks if packet.duration else frame_s
        is_early = pts is not None and (pts - first_pts) * seconds / ticks + shown_s < needed.time_s
        if is_early is not skips:
            skips = is_early
            context.skip_frame = "NONREF" if skips else "DEFAULT"
        for picture in packet.decode():
            video.deadline.check()
            # A frame without a time is shown when the one before it ends.
            time_s = end_s if picture.pts is None else (picture.pts - first_pts) * seconds / ticks
            end_s = time_s + (picture.duration * seconds / ticks if picture.duration else frame_s)
            yield ShownFrame(picture, time_s, end_s)
