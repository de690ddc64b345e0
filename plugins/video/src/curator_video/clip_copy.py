"""Cut a clip out of a file without decoding it, where its first frame is a key frame and nothing is cut off its end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import av

from curator_video.decoding import TIME_SLACK_S, check_end, check_packet, seek_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.packet import Packet
    from av.stream import Stream

    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo

__all__ = ["BITEXACT", "CopyPlan", "copy_clip", "plan_copy"]

BITEXACT = {"fflags": "+bitexact"}
"""Keeps random ids and version numbers out of containers, so that the same clip is the same file."""

_MP4_VIDEO = frozenset({"h264", "hevc", "mpeg4", "av1"})
_MP4_SOUND = frozenset({"aac", "mp3", "opus", "ac3", "eac3", "flac", "alac"})
_WEBM_VIDEO = frozenset({"vp8", "vp9", "av1"})
_WEBM_SOUND = frozenset({"opus", "vorbis"})


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """How a clip is cut out.

    Args:
        container: ``mp4``, ``webm`` or ``mkv``.
        codec: Of the video.
        first_pts: Time stamp of the key frame that it begins with.
        end_pts: Frames from this time stamp on are left out.
        num_frames: Frames in it.
    """

    container: str
    codec: str
    first_pts: int
    end_pts: float
    num_frames: int


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
    if clip.start_s > 0:
        seek_to(video, clip.start_s)
    first: int | None = None
    earliest, reached, count, is_cut = math.inf, video.first_pts, 0, False
    for packet in _packets(video):
        if packet.pts is None or packet.dts is None:
            return None
        reached = max(reached, packet.pts + (packet.duration or 0))
        if packet.dts >= end_pts:
            break
        if first is None and packet.is_keyframe and packet.pts >= start_pts:
            first = packet.pts
        if start_pts <= packet.pts < end_pts:
            earliest = min(earliest, packet.pts)
            if first is None or is_cut:
                return None
            count += 1
        elif packet.pts >= end_pts:
            is_cut = True
    check_end(video, (reached - video.first_pts) * tick_s, clip.end_s)
    if first is None or earliest < first:
        return None
    codec = _codec(video)
    return CopyPlan(_container(video, codec), codec, first, end_pts, count)


def copy_clip(video: OpenVideo, plan: CopyPlan, file: BinaryIO) -> None:
    """Write a clip to a file as it is stored, with its sound; its first frame gets the time 0."""
    if video.has_moved or plan.first_pts > video.first_pts:
        video.container.seek(plan.first_pts, stream=video.stream, backward=True)
    kind = "matroska" if plan.container == "mkv" else plan.container
    with av.open(file, "w", format=kind, options=dict(BITEXACT)) as output:
        tracks: dict[int, tuple[Stream, float, float]] = {}
        for stream in _streams(video):
            time_base = stream.time_base or video.time_base
            scale = video.time_base / time_base
            copied = output.add_stream_from_template(stream)
            tracks[stream.index] = (copied, float(plan.first_pts * scale), float(plan.end_pts) * float(scale))
        going = set(tracks)  # sound may be stored far behind the pictures it belongs to
        for packet in _packets(video, with_sound=True):
            copied, first, end = tracks[packet.stream.index]
            if packet.dts is None or packet.pts is None:
                continue
            if packet.dts >= end:
                going.discard(packet.stream.index)
                if not going:
                    break
            if first <= packet.pts < end:
                packet.pts -= round(first)
                packet.dts -= round(first)
                packet.stream = copied
                output.mux(packet)


def _packets(video: OpenVideo, *, with_sound: bool = False) -> Iterator[Packet[Stream]]:
    """Read packets, without the empty one at the end, until the time is up."""
    video.has_moved = True
    for packet in video.container.demux(_streams(video) if with_sound else [video.stream]):
        video.deadline.check()
        check_packet(packet, video)
        if packet.size:
            yield packet


def _streams(video: OpenVideo) -> list[Stream]:
    return [video.stream] if video.audio is None else [video.stream, video.audio]


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
