"""A video composed of shots of real ones, so that the places of its hard cuts are known."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import av

if TYPE_CHECKING:
    from pathlib import Path

SHOTS = {
    # First and last frame of parts without a cut of their own. Frame 100 of bikes may be one: its shot is left out.
    "bikes": [(0, 30), (30, 76), (137, 187), (187, 242)],
    "bigbuckbunny": [(0, 44), (44, 88), (88, 132)],
    "carphone_pristine": [(0, 40), (40, 80), (80, 120)],
}
RATE = 25
SIZE = (640, 360)


def compose(videos: dict[str, Path], path: Path, *, cuts: int, seed: int = 0) -> list[int]:
    """Write a video with a number of hard cuts; return the numbers of the frames that they are at."""
    draw = random.Random(seed)
    frames = {name: _decoded(videos[name]) for name in SHOTS}
    shots = [(name, shot) for name, some in SHOTS.items() for shot in some]
    found: list[int] = []
    count, last = 0, None
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=RATE, bit_rate=3_000_000)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for number in range(cuts + 1):
            # Neighbouring shots of one file may go on into each other: that would be no cut.
            chosen = draw.choice([each for each in shots if last is None or each[0] != last[0]])
            name, (begin, end) = last = chosen
            length = draw.randint(20, end - begin)
            start = draw.randint(begin, end - length)
            if number:
                found.append(count)
            for picture in frames[name][start : start + length]:
                frame = picture.reformat(*SIZE, "yuv420p")
                frame.pts, frame.pict_type = count, 0
                frame.time_base = Fraction(1, RATE)
                container.mux(stream.encode(frame))
                count += 1
        container.mux(stream.encode())
    return found


def _decoded(path: Path) -> list[av.VideoFrame]:
    with av.open(str(path)) as container:
        return [frame.reformat(*SIZE, "yuv420p") for frame in container.decode(video=0)]
