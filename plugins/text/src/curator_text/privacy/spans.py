"""Finds in a text: their places, and how overlaps are resolved."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Span", "replace_spans", "without_overlaps"]

Kind = TypeVar("Kind", bound=str)
Span: TypeAlias = tuple[int, int]
"""First character, and the one after the last."""


def without_overlaps(found: Iterable[tuple[int, int, Kind]]) -> list[tuple[int, int, Kind]]:
    """Sort finds by place; of those that overlap, keep the one that came first in ``found``.

    >>> without_overlaps([(4, 9, "key"), (0, 5, "number"), (9, 12, "number")])
    [(4, 9, 'key'), (9, 12, 'number')]
    """
    kept: list[tuple[int, int, Kind]] = []
    for begin, end, kind in found:
        place = bisect_left(kept, begin, key=itemgetter(0))
        is_free = (place == 0 or kept[place - 1][1] <= begin) and (place == len(kept) or end <= kept[place][0])
        if is_free:
            kept.insert(place, (begin, end, kind))
    return kept


def replace_spans(text: str, found: Iterable[tuple[int, int, Kind]], replace: Callable[[Kind, str], str]) -> str:
    """Return the text with each find replaced by the result of ``replace`` for its kind and words.

    >>> replace_spans("call 123 now", [(5, 8, "number")], lambda kind, words: f"<{kind}>")
    'call <number> now'
    """
    parts = []
    position = 0
    for begin, end, kind in found:
        parts += [text[position:begin], replace(kind, text[begin:end])]
        position = end
    return "".join([*parts, text[position:]])
