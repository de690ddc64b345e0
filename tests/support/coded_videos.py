"""Videos whose every frame shows its number as bars, and whose sound beeps at known times: nothing can go unnoticed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np

from curator_video.clip_encode import usual_priority

av.logging.restore_default_callback()  # PyAV's own can lock up with encoders that have threads
av.logging.set_libav_level(av.logging.FATAL)

WIDTH, HEIGHT = 96, 64
_COLUMNS, _ROWS = 5, 2
RATE = 48_000
_BEEP_S = 0.04


@dataclass(frozen=True)
class Coded:
    """How a video is made.

    Args:
        name: What tests call it.
        codec: Encoder of the pictures.
        suffix: Of the file: the container.
        options: For the encoder.
        gop: Frames from key frame to key frame.
        pixels: Format of the pixels.
        sound: Encoder of the sound; None for none.
        muxer: Options for the container.
    """

    name: str
    codec: str
    suffix: str
    options: tuple[tuple[str, str], ...] = ()
    gop: int | None = 12
    pixels: str = "yuv420p"
    sound: str | None = None
    muxer: tuple[tuple[str, str], ...] = ()


def coded_picture(number, *, width=WIDTH, height=HEIGHT):
    """A grey picture with the bits of a number as bright and dark fields, the lowest first."""
    pixels = np.empty((height, width), np.uint8)
    tall, wide = height // _ROWS, width // _COLUMNS
    pixels[:] = 20
    for bit in range(_ROWS * _COLUMNS):
        row, column = divmod(bit, _COLUMNS)
        bright = number >> bit & 1
        pixels[row * tall : (row + 1) * tall, column * wide : (column + 1) * wide] = 230 if bright else 20
    return pixels


def number_in(grey):
    """Read the number off a picture of any size."""
    height, width = grey.shape[:2]
    tall, wide = height / _ROWS, width / _COLUMNS
    number = 0
    for bit in range(_ROWS * _COLUMNS):
        row, column = divmod(bit, _COLUMNS)
        field = grey[
            int((row + 0.25) * tall) : int((row + 0.75) * tall),
            int((column + 0.25) * wide) : int((column + 0.7) * wide),
        ]
        number |= int(field.mean() > 125) << bit
    return number


def number_of(frame):
    """Read the number off a decoded frame."""
    return number_in(frame.to_ndarray(format="gray"))


def beeps(seconds, *, rate=RATE):
    """Silence with a chirp at every whole second and half."""
    samples = np.zeros(round(seconds * rate), np.float32)
    chirp = beep(rate)
    for start in np.arange(0.25, seconds - _BEEP_S, 0.5):
        first = round(start * rate)
        part = samples[first : first + len(chirp)]
        part += chirp[: len(part)]
    return samples


def beep(rate=RATE):
    """A chirp from 500 to 2,500 Hz that swells and fades: found to the fraction of a millisecond by correlation."""
    time = np.arange(round(_BEEP_S * rate)) / rate
    return (0.7 * np.hanning(len(time)) * np.sin(2 * np.pi * (500 * time + 25_000 * time**2))).astype(np.float32)


def beep_times(samples, rate):
    """Return when beeps begin, in seconds."""
    if len(samples) < round(_BEEP_S * rate):
        return []
    likeness = np.correlate(samples.astype(np.float64), beep(rate).astype(np.float64), mode="valid")
    found = []
    limit = 0.6 * float((beep(rate).astype(np.float64) ** 2).sum())
    quiet = round(0.2 * rate)
    while len(likeness):
        best = int(np.argmax(likeness))
        if likeness[best] < limit:
            break
        found.append(best / rate)
        likeness[max(0, best - quiet) : best + quiet] = 0
    return sorted(found)


def make_coded(path, kind, *, frames=60, rate=25, times=None, first=0.0, sound_gap=None, tick=None):
    """Encode a video; return its path as text.

    ``times`` gives the time of each frame in milliseconds; ``first`` is the time of the first frame and of the sound's
    begin; ``sound_gap`` the seconds between which packets of sound are missing.
    """
    with av.open(str(path), "w", options=dict(kind.muxer)) as container:
        stream = container.add_stream(kind.codec, rate=rate, options=dict(kind.options))
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, kind.pixels
        if kind.gop is not None:
            stream.codec_context.gop_size = kind.gop
        base = Fraction(1, rate) if times is None else Fraction(1, 1000)
        stream.codec_context.time_base = tick or base
        with usual_priority():
            stream.codec_context.open()
        track = None
        if kind.sound is not None:
            track = container.add_stream(kind.sound, rate=RATE, layout="mono")
        seconds = frames / rate if times is None else times[-1] / 1000 + 1 / rate
        packets = list(_sound_packets(track, seconds, first, sound_gap)) if track is not None else []
        shown = range(frames) if times is None else times
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(coded_picture(number), format="gray").reformat(format=kind.pixels)
            frame.pts, frame.time_base = shown[number] + round(first / base), base
            for packet in stream.encode(frame):
                _mux(container, packet, packets)
        for packet in stream.encode():
            _mux(container, packet, packets)
        for packet in packets:
            container.mux(packet)
    return str(path)


def _mux(container, packet, sound):
    while sound and sound[0].dts * sound[0].time_base <= packet.dts * packet.time_base:
        container.mux(sound.pop(0))
    container.mux(packet)


def _sound_packets(track, seconds, first, gap):
    samples = beeps(seconds)
    context = track.codec_context
    context.open()
    size = context.frame_size or 1024
    for start in range(0, len(samples), size):
        piece = np.zeros(size, np.float32)
        part = samples[start : start + size]
        piece[: len(part)] = part
        frame = av.AudioFrame.from_ndarray(piece.reshape(1, -1), format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, start + round(first * RATE), Fraction(1, RATE)
        yield from _kept(track.encode(frame), gap, first)
    yield from _kept(track.encode(None), gap, first)


def _kept(packets, gap, first):
    for packet in packets:
        time_s = float(packet.pts * packet.time_base) - first
        if gap is None or not gap[0] <= time_s < gap[1]:
            yield packet
