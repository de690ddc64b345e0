"""Where clips begin and end: decisions about times, without files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Span", "fixed_spans", "spans_between"]

_SLACK_S = 1e-6


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a video.

    Args:
        start_s: Time of its first frame.
        end_s: Time at which it ends.
        num_frames: Frames in it, where known.
        motion: How much moves in it, where that was measured.
    """

    start_s: float
    end_s: float
    num_frames: int | None = None
    motion: float | None = None


def fixed_spans(
    start_s: float, end_s: float, *, length_s: float, stride_s: float, min_rest_s: float, keep_rest: bool
) -> list[Span]:
    """Cut a span into spans of one length.

    >>> [(each.start_s, each.end_s) for each in fixed_spans(
    ...     0, 5.5, length_s=2, stride_s=2, min_rest_s=1, keep_rest=True)]
    [(0, 2), (2, 4), (4, 5.5)]

    Args:
        start_s: Where to begin.
        end_s: Where to end.
        length_s: Length of a span.
        stride_s: From the beginning of one to that of the next.
        min_rest_s: A shorter rest at the end gets no span of its own.
        keep_rest: Whether it is then joined to the span before it; else it is left out.
    """
    spans: list[Span] = []
    for number in range(max(1, int((end_s - start_s) / stride_s) + 1)):
        begin = start_s + number * stride_s
        end = min(begin + length_s, end_s)
        if end - begin <= _SLACK_S:
            break
        if end_s - end <= _SLACK_S:
            end = end_s
        if end - begin < min(min_rest_s, length_s) - _SLACK_S:
            if keep_rest:
                begin = spans.pop().start_s if spans else begin
                spans.append(Span(begin, end))
            break
        spans.append(Span(begin, end))
        if end >= end_s:
            break
    return spans


def spans_between(times: Sequence[float], cuts: Sequence[int], end_s: float) -> list[Span]:
    """Return the spans between the first frame, the frames at which scenes begin, and the end.

    >>> [(each.start_s, each.num_frames) for each in spans_between([0, 0.5, 1, 1.5], [2], 2)]
    [(0, 2), (1, 2)]

    Args:
        times: When each frame is shown.
        cuts: Numbers of the frames that begin a scene, ascending.
        end_s: When the last frame ends.
    """
    edges = [0, *(cut for cut in cuts if 0 < cut < len(times)), len(times)]
    return [
        Span(times[first], end_s if after == len(times) else times[after], after - first)
        for first, after in pairwise(edges)
    ]
