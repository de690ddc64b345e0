"""Encode a clip anew, with VP9 or AV1 and Opus, as WebM. No encoder under a copyleft licence is used."""

from __future__ import annotations

import os
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import av
import numpy as np
from av.codec.context import Flags
from av.video.reformatter import VideoReformatter

from curator_core.sdk import DataError
from curator_video.audio_track import sound_pieces
from curator_video.clip_copy import BITEXACT
from curator_video.decoding import decode_frames
from curator_video.display import USUAL_BITS, as_shown, bits_per_sample, shown_size
from curator_video.opening import open_video

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.limits import VideoLimits
    from curator_video.opening import OpenVideo

__all__ = ["VideoCodec", "encode_clip", "quieten_encoders", "usual_priority"]

VideoCodec = Literal["vp9", "av1"]
_ENCODERS: dict[VideoCodec, tuple[str, dict[str, str]]] = {
    "vp9": ("libvpx-vp9", {"deadline": "good", "cpu-used": "5", "row-mt": "0", "b": "0"}),
    "av1": ("libsvtav1", {"preset": "10", "svtav1-params": "lp=1"}),
}
_TICK_S = Fraction(1, 90_000)
"""Times are counted in this: the ticks of some files are whole frames, and clips may begin between them."""
_SOUND_RATE = 48_000
_MAX_BITS = 10


def encode_clip(clip: Clip, limits: VideoLimits, file: BinaryIO, *, codec: VideoCodec, crf: int, threads: int) -> int:
    """Write a clip to a file as WebM, upright, with its sound; return the number of frames.

    Args:
        clip: The clip to encode.
        limits: Limits on size and time.
        file: Where to.
        codec: ``vp9`` or ``av1``.
        crf: Quality: lower is better and larger.
        threads: Threads that decode and encode.

    Raises:
        DataError: It cannot be decoded, or has no frame.
    """
    with (
        open_video(clip, limits) as hearing,
        open_video(clip, limits, threads=threads) as video,
        av.open(file, "w", format="webm", options=dict(BITEXACT)) as output,
    ):
        sound = _Sound(output, sound_pieces(hearing, clip, rate=_SOUND_RATE, layout="stereo"))
        return _encode_frames(video, clip, output, sound, codec=codec, crf=crf, threads=threads)


def quieten_encoders() -> None:
    """Keep SVT-AV1, which has a log of its own, from writing to the terminal."""
    os.environ.setdefault("SVT_LOG", "0")


@contextmanager
def usual_priority() -> Iterator[None]:
    """Leave a thread as urgent as it was: run by root, SVT-AV1 makes it more urgent than all else on the machine.

    Encoders that wait for their own threads by spinning then wait for ever.
    """
    if not hasattr(os, "sched_setscheduler"):  # not on macOS
        yield
        return
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        if os.sched_getscheduler(0) != policy:
            os.sched_setscheduler(0, policy, parameters)


def _encode_frames(
    video: OpenVideo, clip: Clip, output: OutputContainer, sound: _Sound, *, codec: VideoCodec, crf: int, threads: int
) -> int:
    """Encode the pictures, and the sound as far as they have come; the clip begins with both at the time 0."""
    stream: VideoStream | None = None
    shape = VideoReformatter()
    count = 0
    for frame in decode_frames(video, clip.start_s, clip.end_s, with_standing=True):
        if stream is None:
            stream = _video_stream(output, video, frame.picture, codec=codec, crf=crf, threads=threads)
        # All frames get the size of the first: some files change it on the way.
        fitted = as_shown(shape, frame.picture, (stream.width, stream.height), stream.format.name)
        fitted.pts, fitted.time_base = round((frame.time_s - clip.start_s) / _TICK_S), _TICK_S
        end_s = frame.end_s if clip.end_s is None else min(frame.end_s, clip.end_s)
        fitted.duration = max(1, round((end_s - frame.time_s) / _TICK_S))
        fitted.pict_type = 0
        for packet in stream.encode(fitted):
            sound.mux_before(packet)
            output.mux(packet)
        count += 1
    if stream is None:
        raise DataError("there is no frame in the span", source=video.uri)
    for packet in stream.encode(None):
        sound.mux_before(packet)
        output.mux(packet)
    sound.mux_before(None)
    return count


class _Sound:
    """The sound of a clip, encoded and written piece by piece along with the pictures.

    Args:
        output: Where it goes.
        pieces: Its samples; nothing for no sound.
    """

    def __init__(self, output: OutputContainer, pieces: Iterator[NDArray[np.int16]]) -> None:
        self._output = output
        first = next(pieces, None)
        self._packets = iter(()) if first is None else _encoded_sound(output, chain([first], pieces))
        self._next = next(self._packets, None)

    def mux_before(self, picture: Packet[Any] | None) -> None:
        """Write the sound before a packet of the pictures, or all the remaining sound."""
        while self._next is not None:
            if picture is not None and _time_s(self._next) > _time_s(picture):
                return
            self._output.mux(self._next)
            self._next = next(self._packets, None)


def _time_s(packet: Packet[Any]) -> Fraction:
    return (packet.dts or 0) * packet.time_base


def _video_stream(
    output: OutputContainer, video: OpenVideo, picture: VideoFrame, *, codec: VideoCodec, crf: int, threads: int
) -> VideoStream:
    """Add a stream for pictures like the first one: as it is shown, with its colours and its bits.

    Raises:
        DataError: It has more bits than can be kept.
    """
    bits = bits_per_sample(picture)
    name, options = _ENCODERS[codec]
    pixels = "yuv420p" if bits <= USUAL_BITS else "yuv420p10le"
    if bits > _MAX_BITS or pixels not in {each.name for each in av.Codec(name, "w").video_formats or ()}:
        raise DataError(
            f"the video has {bits} bits a sample, which {name} does not keep; use codec: av1, which keeps "
            f"{_MAX_BITS}, or cut at key frames with mode: copy",
            source=video.uri,
        )
    rate = Fraction(video.fps or 25).limit_denominator(1001)
    stream: VideoStream = output.add_stream(name, rate=rate, options={**options, "crf": str(crf)})  # type: ignore[assignment]
    stream.width, stream.height = shown_size(picture, video.pixel_aspect)
    stream.pix_fmt = pixels
    context = stream.codec_context
    context.time_base = _TICK_S
    context.thread_count = threads
    context.flags |= Flags.bitexact
    context.color_range, context.colorspace = picture.color_range, picture.colorspace
    context.color_primaries, context.color_trc = picture.color_primaries, picture.color_trc
    with usual_priority():
        context.open()
    return stream


def _encoded_sound(output: OutputContainer, pieces: Iterable[NDArray[np.int16]]) -> Iterator[Packet[Any]]:
    track = output.add_stream("libopus", rate=_SOUND_RATE, layout="stereo")
    track.codec_context.flags |= Flags.bitexact
    return _opus_packets(track, pieces)


def _opus_packets(track: AudioStream, pieces: Iterable[NDArray[np.int16]]) -> Iterator[Packet[Any]]:
    done = 0
    for piece in pieces:
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(piece).reshape(1, -1), format="s16", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = _SOUND_RATE, done, Fraction(1, _SOUND_RATE)
        done += len(piece)
        yield from track.encode(frame)
    yield from track.encode(None)
