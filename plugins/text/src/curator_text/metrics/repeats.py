"""Repeated lines and paragraphs: how many there are, and how many are different, in numbers and characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["REPEATS"]

_UNITS = ("lines", "paragraphs")
_LINES = 1024
"""Lines of a document that there is room for, until one has more."""


def _measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.blocks import ALL_BYTES, blocks
    from curator_text.kernels.characters import character_table
    from curator_text.kernels.line_repeats import repeat_counts
    from curator_text.kernels.read_only import read_only

    table = character_table()
    counts = np.zeros((2, 4, texts.num_documents), dtype=np.int64)
    lines = _LINES
    for block in blocks(texts, ALL_BYTES):
        done = 0
        while done < len(block.rows):
            done = repeat_counts(
                block.data,
                block.offsets,
                block.rows,
                read_only(table.pages),
                read_only(table.kinds),
                done,
                np.empty((4, lines), dtype=np.int64),
                np.empty((2, lines), dtype=np.uint64),
                np.empty(2 * lines, dtype=np.int32),
                counts,
            )
            lines *= 2  # it stops at a document with more
    names = ("{}", "distinct_{}", "chars_in_{}", "chars_in_distinct_{}")
    return {name.format(unit): counts[u, k] for u, unit in enumerate(_UNITS) for k, name in enumerate(names)}


REPEATS = MetricGroup("repeats", _measure, compiled=True)
"""Lines are cut at newlines and counted unless blank; paragraphs are cut at two newlines, and blank ones count."""
