"""Decode the sound of a part of a video to samples that are exactly as long."""

from __future__ import annotations

import io
import math
import wave
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast

import av
import numpy as np

from curator_core.errors import DataError
from curator_video.decoding import check_packet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo

__all__ = ["Layout", "decode_sound", "flac_file", "wav_file"]

Layout = Literal["mono", "stereo"]
_CHANNELS = {"mono": 1, "stereo": 2}
_PREROLL_S = 0.25
"""Decoding begins so much earlier: Opus and AAC need some packets before they are exact."""


def decode_sound(video: OpenVideo, clip: Clip, *, rate: int, layout: Layout) -> NDArray[np.int16] | None:
    """Return the samples of a clip, one row per moment, or None where it has no sound.

    They cover the span of the clip to the sample: silence stands in where the track begins later or ends earlier.

    Args:
        video: The file, open.
        clip: The part to decode.
        rate: Samples per second.
        layout: How many channels.

    Raises:
        DataError: The track is damaged, or in a codec that is not known.
    """
    track = video.audio
    if track is None:
        return None
    if track.codec_context is None:
        raise DataError("the sound track has an unknown codec", source=video.uri)
    begin_s: float | None = None
    pieces: list[NDArray[np.int16]] = []
    resampler = av.AudioResampler(format="s16", layout=layout, rate=rate)
    for frame, time_s in _frames(video, track, clip):
        begin_s = time_s if begin_s is None else begin_s
        pieces += [_samples(each, layout) for each in resampler.resample(frame)]
    if begin_s is None:
        return None
    pieces += [_samples(each, layout) for each in resampler.resample(None)]
    samples = np.concatenate(pieces) if pieces else np.empty((0, _CHANNELS[layout]), np.int16)
    skipped = round((clip.start_s - begin_s) * rate)
    length = None if clip.end_s is None else max(0, round((clip.end_s - clip.start_s) * rate))
    return _fitted(samples, skipped, length)


def wav_file(samples: NDArray[np.int16], rate: int) -> bytes:
    """Return samples as a WAV file."""
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return sink.getvalue()


def flac_file(samples: NDArray[np.int16], rate: int) -> bytes:
    """Return samples as a FLAC file."""
    layout = "mono" if samples.shape[1] == 1 else "stereo"
    sink = io.BytesIO()
    with av.open(sink, "w", format="flac", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("flac", rate=rate, layout=layout)
        stream.codec_context.format = "s16"
        for start in range(0, len(samples), rate):
            piece = np.ascontiguousarray(samples[start : start + rate]).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(piece, format="s16", layout=layout)
            frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return sink.getvalue()


def _frames(video: OpenVideo, track: AudioStream, clip: Clip) -> Iterator[tuple[AudioFrame, float]]:
    """Yield the decoded pieces that overlap a clip, and some before them, with their times."""
    zero_s = float(video.first_pts * video.time_base)
    time_base = track.time_base or Fraction(1, av.time_base)
    from_s = max(0.0, clip.start_s - _PREROLL_S)
    if from_s > 0 or video.has_moved:
        video.container.seek(math.floor((from_s + zero_s) / time_base), stream=track, backward=True)
    video.has_moved = True
    end_s = math.inf if clip.end_s is None else clip.end_s
    next_s = 0.0
    for packet in video.container.demux(track):
        video.deadline.check()
        check_packet(packet, video)
        for frame in packet.decode():
            video.deadline.check()
            time_s = next_s if frame.pts is None else float(frame.pts * time_base) - zero_s
            next_s = time_s + frame.samples / frame.sample_rate
            if time_s >= end_s:
                return
            if next_s > clip.start_s - _PREROLL_S:
                frame.pts = None  # the resampler counts samples itself
                yield frame, time_s


def _samples(frame: AudioFrame, layout: Layout) -> NDArray[np.int16]:
    return cast("NDArray[np.int16]", frame.to_ndarray()).reshape(-1, _CHANNELS[layout])


def _fitted(samples: NDArray[np.int16], skipped: int, length: int | None) -> NDArray[np.int16] | None:
    """Cut samples off the beginning, or put silence before them, and make them as long as wanted."""
    if skipped >= len(samples):
        return None  # the track has ended before the clip begins
    head = np.zeros((max(0, -skipped), samples.shape[1]), np.int16)
    fitted = np.concatenate([head, samples[max(0, skipped) :]])
    if length is None:
        return fitted
    tail = np.zeros((max(0, length - len(fitted)), samples.shape[1]), np.int16)
    return np.concatenate([fitted[:length], tail])
