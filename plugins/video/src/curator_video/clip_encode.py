"""Encode a clip anew, with VP9 or AV1 and Opus, as WebM. No encoder under a copyleft licence is used."""

from __future__ import annotations

import os
from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import av
import numpy as np
from av.codec.context import Flags
from av.video.reformatter import VideoReformatter

from curator_core.errors import DataError
from curator_video.audio_track import decode_sound
from curator_video.clip_copy import BITEXACT
from curator_video.decoding import decode_frames
from curator_video.frame_jpeg import upright
from curator_video.opening import open_video

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

    from curator_video.clip import Clip
    from curator_video.limits import VideoLimits
    from curator_video.opening import OpenVideo

__all__ = ["VideoCodec", "encode_clip", "quieten_encoders"]

VideoCodec = Literal["vp9", "av1"]
_ENCODERS: dict[VideoCodec, tuple[str, dict[str, str]]] = {
    "vp9": ("libvpx-vp9", {"deadline": "good", "cpu-used": "5", "row-mt": "0", "b": "0"}),
    "av1": ("libsvtav1", {"preset": "10", "svtav1-params": "lp=1"}),
}
_SOUND_RATE = 48_000
_SOUND_PIECE = 960
"""Samples in a packet of Opus: 20 ms."""


def encode_clip(clip: Clip, limits: VideoLimits, file: BinaryIO, *, codec: VideoCodec, crf: int, threads: int) -> int:
    """Write a clip to a file as WebM, upright, with its sound; return the number of frames.

    Args:
        clip: What to encode.
        limits: What to refuse, and when to give up.
        file: Where to.
        codec: ``vp9`` or ``av1``.
        crf: Quality: lower is better and larger.
        threads: Threads that decode and encode.

    Raises:
        DataError: It cannot be decoded, or has no frame.
    """
    with open_video(clip, limits) as video:
        sound = decode_sound(video, clip, rate=_SOUND_RATE, layout="stereo")
    with (
        open_video(clip, limits, threads=threads) as video,
        av.open(file, "w", format="webm", options=dict(BITEXACT)) as output,
    ):
        packets: deque[Packet[Any]] = deque()
        if sound is not None:
            packets.extend(_encoded_sound(output, sound))
        return _encode_frames(video, clip, output, packets, codec=codec, crf=crf, threads=threads)


def quieten_encoders() -> None:
    """Keep SVT-AV1, which has a log of its own, from writing to the terminal."""
    os.environ.setdefault("SVT_LOG", "0")


def _encode_frames(
    video: OpenVideo,
    clip: Clip,
    output: OutputContainer,
    sound: deque[Packet[Any]],
    *,
    codec: VideoCodec,
    crf: int,
    threads: int,
) -> int:
    stream: VideoStream | None = None
    shape = VideoReformatter()
    first_pts = count = 0
    size = (0, 0)
    for frame in decode_frames(video, clip.start_s, clip.end_s):
        picture = upright(frame.picture)
        pts = round(frame.time_s / video.time_base)
        if stream is None:
            size, first_pts = (picture.width, picture.height), pts
            stream = _video_stream(output, video, size, codec=codec, crf=crf, threads=threads)
        # All frames get the size of the first: some files change it on the way.
        fitted = shape.reformat(picture, *size, "yuv420p", threads=1)
        fitted.pts, fitted.time_base = pts - first_pts, video.time_base
        fitted.duration = max(1, round((frame.end_s - frame.time_s) / video.time_base))
        fitted.pict_type = 0
        for packet in stream.encode(fitted):
            _mux(output, packet, sound)
        count += 1
    if stream is None:
        raise DataError("there is no frame in the span", source=video.uri)
    for packet in stream.encode(None):
        _mux(output, packet, sound)
    for packet in sound:
        output.mux(packet)
    return count


def _mux(output: OutputContainer, packet: Packet[Any], sound: deque[Packet[Any]]) -> None:
    """Write a packet, and before it the sound up to its time."""
    time_s = (packet.dts or 0) * packet.time_base
    while sound and (sound[0].dts or 0) * sound[0].time_base <= time_s:
        output.mux(sound.popleft())
    output.mux(packet)


def _video_stream(
    output: OutputContainer, video: OpenVideo, size: tuple[int, int], *, codec: VideoCodec, crf: int, threads: int
) -> VideoStream:
    name, options = _ENCODERS[codec]
    rate = Fraction(video.fps or 25).limit_denominator(1001)
    stream: VideoStream = output.add_stream(name, rate=rate, options={**options, "crf": str(crf)})  # type: ignore[assignment]
    stream.width, stream.height = size
    stream.pix_fmt = "yuv420p"
    stream.codec_context.time_base = video.time_base
    stream.codec_context.thread_count = threads
    stream.codec_context.flags |= Flags.bitexact
    return stream


def _encoded_sound(output: OutputContainer, samples: np.ndarray[Any, np.dtype[np.int16]]) -> list[Packet[Any]]:
    track = output.add_stream("libopus", rate=_SOUND_RATE, layout="stereo")
    track.codec_context.flags |= Flags.bitexact
    packets: list[Packet[Any]] = []
    for start in range(0, len(samples), _SOUND_PIECE):
        piece = np.ascontiguousarray(samples[start : start + _SOUND_PIECE]).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = _SOUND_RATE, start, Fraction(1, _SOUND_RATE)
        packets += track.encode(frame)
    return [*packets, *track.encode(None)]
