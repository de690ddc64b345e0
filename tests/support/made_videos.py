"""Small videos made on the spot: scenes of plain moving patterns with hard cuts, with and without sound."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np

COLOURS = ((200, 30, 30), (30, 200, 30), (40, 40, 220), (220, 220, 40), (200, 40, 200), (40, 210, 210))


def picture(scene, number, *, width=64, height=48, moves=True):
    """A frame of a scene: a plain ground of the scene's colour with a bright square that moves."""
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:] = COLOURS[scene % len(COLOURS)]
    size = height // 4
    left = (number * 2 if moves else 0) % (width - size)
    top = height // 3
    pixels[top : top + size, left : left + size] = 255
    return pixels


def make_video(
    path,
    *,
    codec="mpeg4",
    scenes=(12, 12),
    rate=12,
    width=64,
    height=48,
    sound=False,
    moves=True,
    rotation=0,
    gop=None,
    times=None,
    sound_s=None,
    options=None,
    container_options=None,
):
    """Encode a video with one scene for each number of frames; return its path as text.

    ``times`` gives the time of each frame in milliseconds, for a variable frame rate.
    """
    frames = [picture(scene, number, width=width, height=height, moves=moves) for scene, count in enumerate(scenes)
              for number in range(count)]  # fmt: skip
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = container.add_stream(codec, rate=rate, options=dict(options or {}))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        if gop:
            stream.codec_context.gop_size = gop
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if rotation:
            stream.set_display_rotation(rotation)
        track = None
        if sound:
            track = container.add_stream("libopus", rate=48_000, layout="mono")
        for number, pixels in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            if times is not None:
                frame.pts, frame.time_base = times[number], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if track is not None:
            for frame in tone(sound_s or len(frames) / rate):
                container.mux(track.encode(frame))
            container.mux(track.encode())
    return str(path)


def tone(seconds, *, rate=48_000):
    """A tone that rises from 300 Hz by 150 Hz a second, in pieces of 20 ms: no part of it is like another."""
    time = np.arange(round(seconds * rate)) / rate
    samples = (0.5 * np.sin(2 * np.pi * (300 * time + 75 * time**2))).astype(np.float32)
    for start in range(0, len(samples), 960):
        piece = np.zeros((1, 960), np.float32)
        part = samples[start : start + 960]
        piece[0, : len(part)] = part
        frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
        yield frame


def decoded(path):
    """Return the times and mean colours of all frames of a file, by a plain loop."""
    with av.open(str(path)) as container:
        return [(frame.time, frame.to_ndarray(format="rgb24").mean(axis=(0, 1))) for frame in container.decode(video=0)]
