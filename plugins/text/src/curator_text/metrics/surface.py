"""What the surface of a text says: counts of characters, words and lines, the metrics of most heuristic filters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_table import SpacedWords
    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["SURFACE", "surface"]


def _measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.blocks import ALL_BYTES, blocks
    from curator_text.kernels.surface import surface_counts
    from curator_text.kernels.surface_tables import METRICS, surface_tables

    counts = np.zeros((len(METRICS), texts.num_documents), dtype=np.int64)
    for block in blocks(texts, ALL_BYTES):
        surface_counts(block.data, block.offsets, block.rows, *surface_tables(), counts)
    return dict(zip(METRICS, counts, strict=True))


SURFACE = MetricGroup("surface", _measure, compiled=True)
"""Counts of characters, words and lines: see :data:`curator_text.kernels.surface_tables.METRICS`.

Words are separated by white space (:meth:`str.split`). Lines are cut at newlines; blank ones do not count.
"""


@cache
def surface(words: SpacedWords) -> MetricGroup:
    """Return :data:`SURFACE` for a way to split words; what does not count words means nothing but for whitespace.

    >>> surface("whitespace") is SURFACE
    True
    """
    if words == "whitespace":
        return SURFACE
    return MetricGroup(f"surface[{words}]", _measure, compiled=True, words=words)
