"""Decode the sound of a part of a video to samples that are exactly as long."""

from __future__ import annotations

import io
import wave
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast

import av
import numpy as np

from curator_core.sdk import DataError
from curator_video.decoding import check_packet, seek_sound
from curator_video.video_info import expected_end_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from numpy.typing import NDArray

    from curator_video.clip import Clip
    from curator_video.opening import OpenVideo

__all__ = ["Layout", "decode_sound", "flac_file", "sound_pieces", "wav_file"]

Layout = Literal["mono", "stereo"]
_CHANNELS = {"mono": 1, "stereo": 2}
_PREROLL_S = 0.25
"""Decoding begins earlier by this: Opus and AAC need some packets before they are exact."""
_MIN_GAP_S, _MAX_GAP_S = 0.002, 0.01
"""Limits for the length of a gap: containers round times to milliseconds, packets last 20."""


def decode_sound(video: OpenVideo, clip: Clip, *, rate: int, layout: Layout) -> NDArray[np.int16] | None:
    """Return the samples of a clip, one row per moment, or None where it has no sound; see :func:`sound_pieces`."""
    pieces = list(sound_pieces(video, clip, rate=rate, layout=layout))
    return np.concatenate(pieces) if pieces else None


def sound_pieces(video: OpenVideo, clip: Clip, *, rate: int, layout: Layout) -> Iterator[NDArray[np.int16]]:
    """Yield the samples of a clip piece by piece, one row per moment; nothing where it has no sound.

    Together they are as long as the clip, to the sample, and each sample is at its time: silence stands in where the
    track begins later, ends earlier or has a gap.

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
        return
    if track.codec_context is None:
        raise DataError("the sound track has an unknown codec", source=video.uri)
    end_s = expected_end_s(video, clip)
    length = max(0, round((end_s - clip.start_s) * rate))
    done, has_sound = 0, False
    for place, samples in _placed(_frames(video, track, clip.start_s, end_s), clip.start_s, rate, layout):
        new = samples[max(0, done - place) :][: max(0, length - max(done, place))]
        if not len(new):
            continue
        has_sound = True
        yield from _silence(place - done, rate, layout)
        yield new
        done = max(done, place) + len(new)
    if has_sound:
        yield from _silence(length - done, rate, layout)


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


def _frames(video: OpenVideo, track: AudioStream, start_s: float, end_s: float) -> Iterator[tuple[AudioFrame, float]]:
    """Yield the decoded pieces that overlap a span, and some before them, with their times."""
    zero_s = float(video.first_pts * video.time_base)
    time_base = track.time_base or Fraction(1, av.time_base)
    if start_s > _PREROLL_S or video.has_moved:
        seek_sound(video, track, start_s - _PREROLL_S)
    video.has_moved = True
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
            if next_s > start_s - _PREROLL_S:
                yield frame, time_s


def _placed(
    frames: Iterator[tuple[AudioFrame, float]], start_s: float, rate: int, layout: Layout
) -> Iterator[tuple[int, NDArray[np.int16]]]:
    """Yield samples in the wanted form, with the number of the first one, counted from ``start_s``.

    Time stamps are rounded and tremble, so samples follow one another as long as the two agree. Where they do not,
    packets are missing or came twice, and the samples that follow are put at their time.
    """
    resampler: av.AudioResampler | None = None
    place, next_s, form = 0, 0.0, ("", "", 0)
    for frame, time_s in frames:
        new_form = (frame.format.name, frame.layout.name, frame.sample_rate)
        lasts_s = frame.samples / frame.sample_rate
        if resampler is None or new_form != form or abs(time_s - next_s) > _gap_s(lasts_s):
            if resampler is not None:
                for each in resampler.resample(None):
                    yield place, _samples(each, layout)
            resampler = av.AudioResampler(format="s16", layout=layout, rate=rate)
            place, next_s, form = round((time_s - start_s) * rate), time_s, new_form
        next_s += lasts_s
        frame.pts = None  # the resampler counts samples itself
        for each in resampler.resample(frame):
            yield place, _samples(each, layout)
            place += each.samples
    if resampler is not None:
        for each in resampler.resample(None):
            yield place, _samples(each, layout)
            place += each.samples


def _gap_s(packet_s: float) -> float:
    """Return by how much time stamps may differ from the count of samples: less than a lost packet would make."""
    return min(max(packet_s / 2, _MIN_GAP_S), _MAX_GAP_S)


def _silence(count: int, rate: int, layout: Layout) -> Iterator[NDArray[np.int16]]:
    """Yield silence, a second at a time."""
    for start in range(0, count, rate):
        yield np.zeros((min(rate, count - start), _CHANNELS[layout]), np.int16)


def _samples(frame: AudioFrame, layout: Layout) -> NDArray[np.int16]:
    return cast("NDArray[np.int16]", frame.to_ndarray()).reshape(-1, _CHANNELS[layout])
