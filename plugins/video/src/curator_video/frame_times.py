"""Which frames of a clip are taken: decisions about times, and how to get at them cheaply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curator_core.sdk import DataError
from curator_video.decoding import TIME_SLACK_S, Needed, decode_frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_video.decoding import ShownFrame
    from curator_video.opening import OpenVideo

__all__ = ["evenly_spaced", "every_seconds", "frames_at"]

_SEEK_S = 8.0
"""A gap of more is jumped over: encoders put key frames at most some ten seconds apart."""


def evenly_spaced(start_s: float, end_s: float, count: int) -> list[float]:
    """Return the middles of ``count`` equal parts of a span.

    >>> evenly_spaced(10, 14, 2)
    [11.0, 13.0]
    """
    part_s = (end_s - start_s) / count
    return [start_s + (number + 0.5) * part_s for number in range(count)]


def every_seconds(start_s: float, end_s: float, every_s: float) -> list[float]:
    """Return the times of a span that are a multiple of ``every_s`` from its beginning.

    >>> every_seconds(10, 11, 0.4)
    [10.0, 10.4, 10.8]
    """
    count = max(1, math.ceil((end_s - start_s - TIME_SLACK_S) / every_s))
    return [start_s + number * every_s for number in range(count)]


def frames_at(
    video: OpenVideo, times_s: Sequence[float], start_s: float = 0.0, end_s: float | None = None
) -> list[ShownFrame]:
    """Return the frame of a span that is shown at each time, or the next one where none is.

    A frame that serves several times comes out once. Frames that no wanted one depends on are not decoded where the
    codec allows it, and long gaps are jumped over.

    Args:
        video: The video.
        times_s: Times to look at, ascending.
        start_s: Start of the span.
        end_s: End of the span; None for the end of the file.

    Raises:
        DataError: There is no frame in the span, or it cannot be decoded.
    """
    needed = Needed(times_s[0])
    frames = decode_frames(video, start_s, end_s, needed=needed, with_standing=True)
    found: list[ShownFrame] = []
    shown, following = next(frames, None), None
    for time_s in times_s:
        if shown is not None and time_s - shown.time_s > _SEEK_S and needed.time_s < time_s - _SEEK_S:
            needed.time_s = time_s
            frames = decode_frames(video, start_s, end_s, needed=needed)
            shown, following = next(frames, shown), None
        needed.time_s = time_s
        # Declared durations of frames are often wrong: use the time of the next one.
        while following is not None or (following := next(frames, None)) is not None:
            if following.time_s > time_s + TIME_SLACK_S:
                break
            shown, following = following, None
        if shown is not None and shown not in found[-1:]:
            found.append(shown)
    if not found:
        raise DataError("there is no frame in the span", source=video.uri)
    return found
