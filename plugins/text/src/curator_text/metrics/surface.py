"""Counts of characters, words and lines, the metrics of most heuristic filters."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import Filter, NodeInfo
    from curator_table import SpacedWords
    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["SURFACE", "addresses", "compile_surface", "known_characters", "surface"]


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
    """Return :data:`SURFACE` for a way to split words; metrics other than words are only defined for whitespace.

    >>> surface("whitespace") is SURFACE
    True
    """
    if words == "whitespace":
        return SURFACE
    return MetricGroup(f"surface[{words}]", _measure, compiled=True, words=words)


_CODE_POINTS = 0x110000


@lru_cache(maxsize=16)
def known_characters(characters: str) -> MetricGroup:
    """Return the group of ``chars`` and ``known_chars``: characters in all, and of the set between white space.

    >>> import polars as pl
    >>> known_characters("ab ").of_texts(pl.Series([" a bc "]))["known_chars"].to_list()
    [3]

    Args:
        characters: The set.
    """
    is_known = np.zeros(_CODE_POINTS, dtype=np.bool_)
    is_known[[ord(each) for each in characters]] = True

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        from curator_text.kernels.known_characters import known_character_counts

        counts = np.zeros((2, texts.num_documents), dtype=np.int64)
        known_character_counts(texts.data, texts.offsets, texts.rows_to_measure, is_known, counts)
        return {"chars": counts[0], "known_chars": counts[1]}

    digest = hashlib.blake2b("".join(sorted(characters)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return MetricGroup(f"known_characters {digest}", measure, compiled=True)


@cache
def addresses(regex: str) -> MetricGroup:
    r"""Return the group of ``chars`` and ``url_chars``: characters in all, and in matches of an expression.

    >>> addresses(r"www[.]\S+").of_texts(pl.Series(["see www.a.io"]))["url_chars"].to_list()
    [8]
    """

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        series = texts.series()
        matched = series.str.extract_all(regex).list.eval(pl.element().str.len_chars()).list.sum()
        return {"chars": series.str.len_chars().to_numpy(), "url_chars": matched.to_numpy()}

    return MetricGroup(f"addresses {regex}", measure)


def compile_surface(stage: Filter, node: NodeInfo) -> None:  # noqa: ARG001 - the same for every stage and node
    """Compile the counting of the surface: the ``setup_on_node`` of filters that measure it."""
    SURFACE.prepare()
