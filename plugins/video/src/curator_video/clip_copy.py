"""Cut a clip out of a file without decoding it, where its first frame is a key frame and nothing is cut off its end."""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, BinaryIO

import av

from curator_core.sdk import DataError
from curator_video.decoding import TIME_SLACK_S, check_end, check_packet, seek_sound, seek_steps, seek_to
from curator_video.opening import open_video

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from av.audio.stream import AudioStream
    from av.packet import Packet
    from av.stream import Stream

    from curator_video.clip import Clip
    from curator_video.limits import VideoLimits
    from curator_video.opening import OpenVideo

__all__ = ["BITEXACT", "CopyPlan", "copy_clip", "decoding_times", "plan_copy"]

BITEXACT = {"fflags": "+bitexact"}
"""Keeps random ids and version numbers out of containers, so that the same clip is the same file."""

_MP4_VIDEO = frozenset({"h264", "hevc", "mpeg4", "av1"})
_MP4_SOUND = frozenset({"aac", "mp3", "opus", "ac3", "eac3", "flac", "alac"})
_WEBM_VIDEO = frozenset({"vp8", "vp9", "av1"})
_WEBM_SOUND = frozenset({"opus", "vorbis"})


_SOUND_BEFORE_S = 1.0
"""How far before a clip to begin looking for the sound that is heard when it begins."""
_MAX_REORDERED = 32
"""So many packets may lie between a frame and one that is shown later; codecs allow 16."""


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """How a clip is cut out.

    Args:
        container: ``mp4``, ``webm`` or ``mkv``.
        codec: Of the video.
        end_pts: Time stamp at which it ends.
        pts: Time stamps of its frames in the order in which they are stored; the first is that of a key frame.
    """

    container: str
    codec: str
    end_pts: float
    pts: Sequence[int]


def plan_copy(video: OpenVideo, clip: Clip) -> CopyPlan | None:
    """Return how a clip can be copied, or None where it has to be encoded anew.

    It can when the first frame shown is a key frame, and no frame that is kept was stored behind one that is not: that
    one it may have been predicted from.

    Raises:
        DataError: A packet is damaged, or the file ends before the clip does.
    """
    tick_s = float(video.time_base)
    start_pts = video.first_pts + math.ceil((clip.start_s - TIME_SLACK_S) / tick_s)
    end_pts = math.inf if clip.end_s is None else video.first_pts + (clip.end_s - TIME_SLACK_S) / tick_s
    kept: list[int] = []
    reached, behind = video.first_pts, 0
    for packet in _from_key_frame(video, clip.start_s, start_pts):
        if packet.pts is None:
            return None
        reached = max(reached, packet.pts + (packet.duration or 0))
        if packet.pts >= end_pts:
            behind += 1
            if behind > _MAX_REORDERED:
                break
        elif packet.pts >= start_pts:
            is_first = not kept
            if behind or (is_first and not packet.is_keyframe) or (kept and packet.pts < kept[0]):
                return None
            kept.append(packet.pts)
    check_end(video, (reached - video.first_pts) * tick_s, clip.end_s)
    if not kept:
        return None
    codec = _codec(video)
    return CopyPlan(_container(video, codec), codec, end_pts, kept)


def copy_clip(clip: Clip, limits: VideoLimits, plan: CopyPlan, file: BinaryIO) -> None:
    """Write a clip to a file as it is stored, with its sound.

    Sound is cut between packets, so that of the packet heard while the first frame appears more is kept than is asked
    for. MP4 has a way to hide it; in other containers the first frame appears so much later.

    Raises:
        DataError: A packet is damaged or has no time.
    """
    kind = "matroska" if plan.container == "mkv" else plan.container
    # Pictures and sound are read apart: how far from one another a file stores them is its own affair.
    with (
        open_video(clip, limits) as video,
        open_video(clip, limits) as hearing,
        av.open(file, "w", format=kind, options=dict(BITEXACT)) as output,
    ):
        streams = [_copied_pictures(video, plan, output.add_stream_from_template(video.stream, opaque=True))]
        if hearing.audio is not None:
            track = output.add_stream_from_template(hearing.audio, opaque=True)
            streams.append(_copied_sound(hearing, hearing.audio, plan, track))
        for packet in heapq.merge(*streams, key=lambda packet: (packet.dts or 0) * packet.time_base):
            output.mux(packet)


def decoding_times(pts: Sequence[int]) -> list[int]:
    """Return when to decode frames that are shown at some times: ascending, and no frame later than it is shown.

    >>> decoding_times([0, 3, 1, 2, 6])
    [-1, 0, 1, 2, 5]

    Args:
        pts: Time stamps of frames, in the order in which they are decoded.
    """
    shown = sorted(pts)
    delay = max(by - at for by, at in zip(shown, pts, strict=True))
    return [each - delay for each in shown]


def _copied_pictures(video: OpenVideo, plan: CopyPlan, stream: Stream) -> Iterator[Packet[Stream]]:
    first, start_s = plan.pts[0], float((plan.pts[0] - video.first_pts) * video.time_base)
    waiting = deque(zip(plan.pts, decoding_times(plan.pts), strict=True))
    for packet in _from_key_frame(video, start_s, first):
        if packet.pts != waiting[0][0]:  # one that the plan leaves out
            continue
        pts, dts = waiting.popleft()
        packet.pts, packet.dts, packet.stream = pts - first, dts - first, stream
        yield packet
        if not waiting:
            return
    raise DataError("the file has changed while a clip was copied from it", source=video.uri)


def _copied_sound(video: OpenVideo, track: AudioStream, plan: CopyPlan, stream: Stream) -> Iterator[Packet[Stream]]:
    """Yield the packets that are heard during a clip; in MP4, which can hide it, also the one before them.

    Decoders need that one to get the next right.
    """
    base = track.time_base or Fraction(1, av.time_base)
    first, end = (each * float(video.time_base / base) for each in (plan.pts[0], plan.end_pts))
    if plan.pts[0] > video.first_pts or video.has_moved:
        seek_sound(video, track, float((plan.pts[0] - video.first_pts) * video.time_base) - _SOUND_BEFORE_S)
    early: deque[Packet[Stream]] = deque(maxlen=2 if plan.container == "mp4" else 1)
    for packet in _packets(video, track):
        pts = packet.pts if packet.pts is not None else packet.dts
        if pts is None:
            raise DataError("a packet of the sound has no time", source=video.uri)
        if pts >= end:
            return
        packet.pts = packet.dts = pts - round(first)
        early.append(packet)
        if pts + (packet.duration or 0) > first:
            while early:
                heard = early.popleft()
                heard.stream = stream
                yield heard


def _from_key_frame(video: OpenVideo, start_s: float, start_pts: int) -> Iterator[Packet[Stream]]:
    """Read the packets of the video from the last key frame on that is shown at a time or before it."""
    if start_s <= 0:
        if video.has_moved:
            seek_to(video, 0.0)
        yield from _packets(video, video.stream)
        return
    for _ in seek_steps(video, start_s):
        packets = _packets(video, video.stream)
        first = next(packets, None)
        if first is not None and first.is_keyframe and first.pts is not None and first.pts <= start_pts:
            break
    if first is not None:
        yield first
    yield from packets


def _packets(video: OpenVideo, stream: Stream) -> Iterator[Packet[Stream]]:
    """Read packets, without the empty one at the end, until the time is up."""
    video.has_moved = True
    for packet in video.container.demux(stream):
        video.deadline.check()
        check_packet(packet, video)
        if packet.size:
            yield packet


def _codec(video: OpenVideo) -> str:
    """Return the name of the codec; FFmpeg calls some by the library that decodes them."""
    name = video.stream.codec_context.name
    return {"libdav1d": "av1", "libvpx-vp9": "vp9"}.get(name, name)


def _container(video: OpenVideo, codec: str) -> str:
    """Return the most common container that holds the codecs."""
    sound = None if video.audio is None else video.audio.codec_context.name
    if codec in _MP4_VIDEO and (sound is None or sound in _MP4_SOUND):
        return "mp4"
    if codec in _WEBM_VIDEO and (sound is None or sound in _WEBM_SOUND):
        return "webm"
    return "mkv"
