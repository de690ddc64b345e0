"""Decode the frames of a part of a video, in the order they are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av

from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from av.audio.stream import AudioStream
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
    "seek_sound",
    "seek_steps",
    "seek_to",
]

TIME_SLACK_S = 1e-6
"""Times that differ by less are equal: spans travel as floating-point seconds, files count in ticks."""
ROUGH = {"skip_loop_filter": "all"}
"""Decode without the filter that smooths block edges: a third cheaper for H.264, and good enough to measure frames."""
_MISSING_S = 0.5
"""A file that ends earlier than declared by this is truncated; smaller gaps come from sound and careless muxers."""
_STEPS_BACK_S = (0.0, 2.0, 10.0, math.inf)
"""How far before a time to look for a key frame; formats without an index only guess where one is."""
_BEFORE_ALL_S = 1.0
"""How far before the first frame to go for the beginning of a file without an index."""
_SKIPPERS = frozenset({"h264", "hevc", "mpeg4", "mpeg2video", "mpeg1video"})
"""Decoders that can switch skipping of frames on and off. Others, such as libdav1d, never stop skipping."""


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
    with_standing: bool = False,
) -> Iterator[ShownFrame]:
    """Yield the frames that are shown first at ``start_s`` or later and before ``end_s``.

    Args:
        video: The video.
        start_s: First time.
        end_s: Time to stop at; None for the end of the file.
        options: More options for the decoder.
        needed: Lets the caller skip frames: decoding begins at the key frame before this time, and those that end
            before it may be left out.
        with_standing: Where it takes longer than a usual frame until one begins, also yield the one that is on the
            screen at ``start_s``, with that time.

    Raises:
        DataError: A packet or frame is damaged, the file ends before the span does, or the time is up.
    """
    video.stream.codec_context.options = {**video.stream.codec_context.options, **(options or {})}
    limit = math.inf if end_s is None else end_s - TIME_SLACK_S
    reached = 0.0
    standing: ShownFrame | None = None
    for frame in _from_key_frame(video, needed or Needed(start_s)):
        if frame.time_s < start_s - TIME_SLACK_S:
            standing, reached = frame if with_standing else None, frame.end_s
            continue
        if standing is not None and min(frame.time_s, limit) > start_s + video.frame_s:
            yield replace(standing, time_s=start_s, end_s=frame.time_s)
        standing = None
        if frame.time_s >= limit:
            return
        reached = frame.end_s
        if frame.picture.is_corrupt:
            raise DataError(f"the frame at {frame.time_s:.3f} s is damaged", source=video.uri)
        yield frame
    check_end(video, reached, end_s)
    if standing is not None and standing.end_s > start_s + TIME_SLACK_S:
        yield replace(standing, time_s=start_s)


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


def seek_steps(video: OpenVideo, time_s: float) -> Iterator[None]:
    """Go to the key frame before a time, then further and further back, as long as the caller iterates."""
    for back_s in _STEPS_BACK_S:
        seek_to(video, time_s - back_s)
        yield
        if time_s <= back_s:
            return


def seek_to(video: OpenVideo, time_s: float) -> None:
    """Go to the last key frame at or before a time, as far as the file knows; for 0 or less to the beginning."""
    wanted_s = 0.0 if video.is_sequential else max(0.0, time_s)
    if not wanted_s and not video.has_index:
        wanted_s = -_BEFORE_ALL_S  # the first frame is decoded some time before it is shown
    offset = video.first_pts + math.floor(wanted_s / video.time_base)
    video.container.seek(offset, stream=video.stream, backward=True)


def seek_sound(video: OpenVideo, track: AudioStream, time_s: float) -> None:
    """Go to the sound that is heard at a time, or some before it; times are counted from the first frame."""
    base = track.time_base or Fraction(1, av.time_base)
    earliest = (track.start_time or 0) if video.has_index else -math.inf
    wanted = (time_s + float(video.first_pts * video.time_base)) / base
    video.container.seek(math.floor(max(earliest, wanted)), stream=track, backward=True)


def declared_end_s(video: OpenVideo) -> float | None:
    """Return when the last frame ends as the file says of the video stream itself; None where it does not say."""
    stream = video.stream
    if stream.duration is not None and stream.duration > 0:
        return float(stream.duration * video.time_base) - video.offset_s
    tagged_s = _tagged_duration_s(stream)
    return None if tagged_s is None else tagged_s - video.offset_s


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
    for _ in seek_steps(video, start_s):
        frames = _decode(video, needed)
        first = next(frames, None)
        if first is not None and first.time_s <= start_s + TIME_SLACK_S:
            break
    if first is not None:
        yield first
    yield from frames


def _packets(video: OpenVideo, time_s: float) -> Iterator[Packet[Any]]:
    """Read packets; of a file that has to be read from its beginning, only from the last key frame before a time on."""
    held: list[Packet[Any]] = []
    is_before = video.is_sequential and time_s > 0
    for packet in video.container.demux(video.stream):
        video.deadline.check()
        check_packet(packet, video)
        if not is_before:
            yield packet
            continue
        is_before = packet.pts is None or (packet.pts - video.first_pts) * video.time_base <= time_s
        if is_before and packet.is_keyframe:
            held.clear()
        held.append(packet)
        if not is_before or not packet.size:
            is_before = False
            yield from held
            held.clear()


def _decode(video: OpenVideo, needed: Needed) -> Iterator[ShownFrame]:
    """Decode from where the file is, without frames that no other needs and that are replaced before ``needed``."""
    context = video.stream.codec_context
    first_pts, frame_s = video.first_pts, video.frame_s
    ticks, seconds = video.time_base.denominator, video.time_base.numerator
    end_s = 0.0
    latest_s = -math.inf
    skips, can_skip = False, context.name in _SKIPPERS
    context.skip_frame = "DEFAULT"  # an earlier decoding may have stopped while it skipped
    video.has_moved = True
    for packet in _packets(video, needed.time_s):
        if can_skip and packet.pts is not None:
            # How long a frame is shown is often not known; but one that comes before another which is early
            # enough is replaced in time.
            shown_s = (packet.pts - first_pts) * seconds / ticks
            is_early = shown_s < latest_s
            if shown_s <= needed.time_s:
                latest_s = max(latest_s, shown_s)
            if is_early is not skips:
                skips = is_early
                context.skip_frame = "NONREF" if skips else "DEFAULT"
        for picture in packet.decode():
            video.deadline.check()
            # A frame without a time is shown when the one before it ends.
            time_s = end_s if picture.pts is None else (picture.pts - first_pts) * seconds / ticks
            end_s = time_s + (picture.duration * seconds / ticks if picture.duration else frame_s)
            yield ShownFrame(picture, time_s, end_s)
