"""A video whose scenes differ in whether something moves and whether somebody speaks."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np

RATE = 48_000
FPS = 12
WIDTH, HEIGHT = 160, 96
COLOURS = ((200, 40, 40), (40, 180, 60), (50, 60, 200), (210, 200, 60))


def picture(scene, number, *, moves):
    pixels = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    pixels[:] = COLOURS[scene % len(COLOURS)]
    room = WIDTH - 32
    left = abs(4 * number % (2 * room) - room) if moves else 40  # to and fro: a jump would look like a cut
    pixels[32:64, left : left + 32] = 255
    return pixels


def make_talking_video(path, scenes):
    """Encode scenes, each a pair: samples at 48 kHz, which say how long it is, and whether the picture moves."""
    frames, sound = [], []
    for scene, (samples, moves) in enumerate(scenes):
        count = -(-len(samples) * FPS // RATE)
        frames += [picture(scene, number, moves=moves) for number in range(count)]
        padded = np.zeros(count * RATE // FPS, np.float32)
        padded[: len(samples)] = samples
        sound.append(padded)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        track = container.add_stream("libopus", rate=RATE, layout="mono")
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
        samples = np.concatenate(sound)
        for start in range(0, len(samples), 960):
            piece = np.zeros((1, 960), np.float32)
            part = samples[start : start + 960]
            piece[0, : len(part)] = part
            frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            container.mux(track.encode(frame))
        container.mux(track.encode())
