"""From probabilities of speech, one for each short window, to segments: pure arithmetic, no sound and no model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SegmentRules", "find_segments"]

_HYSTERESIS = 0.15
"""How much lower than the threshold the probability must fall for speech to end (silero-vad's default)."""
_MIN_EXIT = 0.01


@dataclass(frozen=True, slots=True)
class SegmentRules:
    """Rules for segments of speech. The defaults are those of silero-vad.

    Args:
        threshold: Probability from which a window is speech.
        min_segment_s: Shorter segments are left out.
        max_segment_s: Longer segments are cut, where speech is least probable in the second half; None for no limit.
        min_silence_s: A pause of this length ends a segment.
        pad_s: Seconds added to segments on both sides, as far as there is room.
    """

    threshold: float = 0.5
    min_segment_s: float = 0.25
    max_segment_s: float | None = None
    min_silence_s: float = 0.1
    pad_s: float = 0.03


def find_segments(
    probabilities: NDArray[np.floating], rules: SegmentRules, *, window_s: float, duration_s: float
) -> list[tuple[float, float]]:
    """Return where speech starts and ends, in seconds, in order and without overlaps.

    >>> windows = np.array([0, 0, 0.9, 0.9, 0.4, 0.9, 0.1, 0], np.float32)
    >>> find_segments(windows, SegmentRules(pad_s=0), window_s=0.1, duration_s=0.8)
    [(0.2, 0.6)]

    Args:
        probabilities: Of speech, for each window.
        rules: Rules for segments.
        window_s: Length of a window.
        duration_s: Length of the recording; the last window may reach beyond it.
    """
    probabilities = probabilities.astype(np.float64)  # as silero-vad compares them with its thresholds
    exit_below = max(rules.threshold - _HYSTERESIS, _MIN_EXIT)
    quiet = probabilities < exit_below
    last_quiet = np.maximum.accumulate(np.where(quiet, np.arange(len(quiet)), -1))
    # A pause begins at a quiet window and ends the segment at another one, this many further on or more.
    min_silence_windows = int(np.ceil(rules.min_silence_s / window_s - 1e-9))
    merged: list[list[int]] = []
    for start, end in _runs(_is_speech(probabilities, quiet, rules.threshold)):
        if merged and last_quiet[start - 1] - merged[-1][1] < min_silence_windows:
            merged[-1][1] = end
        else:
            merged.append([start, end])
    if merged and last_quiet[-1] - merged[-1][1] < min_silence_windows:
        merged[-1][1] = len(probabilities)  # nor does a shorter pause before the end of the recording
    segments = [(start * window_s, min(end * window_s, duration_s)) for start, end in merged]
    segments = [(start, end) for start, end in segments if round(end - start - rules.min_segment_s, 9) > 0]
    if rules.max_segment_s is not None:
        max_windows = max(1, int((rules.max_segment_s - 2 * rules.pad_s) / window_s))
        segments = [part for each in segments for part in _parts(each, probabilities, max_windows, window_s)]
    padded = _padded(segments, rules.pad_s, duration_s)
    return [(round(start, 4), round(end, 4)) for start, end in padded]


def _is_speech(probabilities: NDArray[np.floating], quiet: NDArray[np.bool_], threshold: float) -> NDArray[np.bool_]:
    """Return which windows are speech: from one above the threshold to one that is clearly below it."""
    decided = np.full(len(probabilities), -1, np.int8)
    decided[quiet] = 0
    decided[probabilities >= threshold] = 1
    last_decided = np.maximum.accumulate(np.where(decided >= 0, np.arange(len(decided)), -1))
    speech: NDArray[np.bool_] = (last_decided >= 0) & (decided[last_decided] == 1)
    return speech


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _parts(
    segment: tuple[float, float], probabilities: NDArray[np.floating], max_windows: int, window_s: float
) -> list[tuple[float, float]]:
    """Cut a segment into parts of at most ``max_windows``, each time in the second half of the allowed range."""
    first, last = round(segment[0] / window_s), int(np.ceil(segment[1] / window_s - 1e-9))
    cuts = [first]
    while last - cuts[-1] > max_windows:
        begin = cuts[-1] + max(1, max_windows // 2)
        cuts.append(begin + int(np.argmin(probabilities[begin : cuts[-1] + max_windows + 1])))
    times = [segment[0], *(each * window_s for each in cuts[1:]), segment[1]]
    return list(pairwise(times))


def _padded(segments: list[tuple[float, float]], pad_s: float, duration_s: float) -> list[tuple[float, float]]:
    """Widen segments on both sides; neighbours that would overlap meet half way."""
    padded = []
    for index, (start, end) in enumerate(segments):
        before = start if index == 0 else (start - segments[index - 1][1]) / 2
        after = duration_s - end if index == len(segments) - 1 else (segments[index + 1][0] - end) / 2
        padded.append((start - min(pad_s, before), end + min(pad_s, after)))
    return padded
