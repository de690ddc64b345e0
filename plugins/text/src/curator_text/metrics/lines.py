"""Numbers of lines and paragraphs: how many there are, how they begin and end, and how many occur again."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import Filter, NodeInfo
    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["FINEWEB_SHORT_LINE", "REPEATS", "compile_repeats", "line_counts"]

FINEWEB_SHORT_LINE = 30
"""Characters; FineWeb, Penedo et al. 2024, section 3.6."""


@cache
def line_counts(short_line: int = FINEWEB_SHORT_LINE, line_ends: str | None = None) -> MetricGroup:
    r"""Return the group of metrics that needs lines, but not words.

    ``chars``, ``newlines``, ``hashes`` (``#``) and ``ellipses`` (``...`` and its character) in the text; ``lines`` by
    ``str.splitlines``, ``bullet_lines`` and ``ellipsis_lines``, which start and end so. Between line feeds:
    ``full_lines``, which are not blank, ``ended_lines`` and ``short_lines`` of those, and the characters of those that
    occurred before, ``repeated_full_line_chars``. Between runs of line feeds ``split_lines``, ``repeated_lines`` and
    ``repeated_line_chars``, and between runs of two and more ``paragraphs``, ``repeated_paragraphs`` and
    ``repeated_paragraph_chars``, of the text without the whitespace around it.

    >>> import polars as pl
    >>> line_counts().of_texts(pl.Series(["- one\n- two."])).select("bullet_lines", "ended_lines").row(0)
    (2, 1)

    Args:
        short_line: Maximum number of characters of a short line.
        line_ends: The characters that end a line well; those that end sentences in any script unless given.
    """

    def measure(column: TextBytes) -> dict[str, NDArray[Any]]:
        from curator_text.kernels.blocks import blocks
        from curator_text.kernels.characters import TERMINAL, character_table
        from curator_text.kernels.line_metrics import LINE_COLUMNS, measure_lines
        from curator_text.kernels.read_only import read_only

        table = character_table()
        if line_ends is not None:
            table = table.with_kind(TERMINAL, line_ends)
        pages, kinds = read_only(table.pages), read_only(table.kinds)
        out = np.zeros((len(LINE_COLUMNS), column.num_documents), dtype=np.int64)
        for block in blocks(column):
            measure_lines(block.data, block.offsets, block.rows, pages, kinds, short_line, out)
        return dict(zip(LINE_COLUMNS, out, strict=True))

    ends = "" if line_ends is None else f"[{''.join(sorted(line_ends))}]"
    return MetricGroup(f"line_counts[{short_line}]{ends}", measure, compiled=True)


_UNITS = ("lines", "paragraphs")
_ROOM = 1024
"""Lines of a document that there is room for, until one has more."""


def _measure_repeats(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.blocks import ALL_BYTES, blocks
    from curator_text.kernels.characters import character_table
    from curator_text.kernels.line_repeats import repeat_counts
    from curator_text.kernels.read_only import read_only

    table = character_table()
    counts = np.zeros((2, 4, texts.num_documents), dtype=np.int64)
    lines = _ROOM
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


REPEATS = MetricGroup("repeats", _measure_repeats, compiled=True)
"""Lines are cut at newlines and counted unless blank; paragraphs are cut at two newlines, and blank ones count."""


def compile_repeats(stage: Filter, node: NodeInfo) -> None:  # noqa: ARG001 - the same for every stage and node
    """Compile the counting of repeated lines: the ``setup_on_node`` of filters that measure it."""
    REPEATS.prepare()
