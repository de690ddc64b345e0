"""How much of a document is in n-grams of words that occur again, as datatrove counts for Gopher's rules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes
    from curator_text.metrics.word_counts import Words

__all__ = ["gopher_ngrams"]


@cache
def gopher_ngrams(words: Words, top: tuple[int, ...], repeated: tuple[int, ...]) -> MetricGroup:
    """Return the group of metrics over n-grams.

    ``top_n_chars``: the characters of all occurrences of the most frequent n-gram, with a space between words; of those
    that are equally frequent, the one that occurs first. ``repeated_n_chars``: the characters, without spaces, of
    n-grams that occurred before, where an n-gram that did is followed by the one n words further on.

    >>> import polars as pl
    >>> gopher_ngrams("whitespace", (2,), (5,)).of_texts(pl.Series(["to be or not to be"])).row(0)
    (10, 0)

    Args:
        words: How text is split into words.
        top: The n of the first kind; two and more.
        repeated: The n of the second kind; two and more.
    """

    def measure(column: TextBytes) -> Mapping[str, NDArray[Any]]:
        from curator_text.kernels.blocks import word_blocks
        from curator_text.kernels.gopher_ngrams import measure_gopher_ngrams
        from curator_text.kernels.read_only import read_only

        longest = max((*top, *repeated, 1))
        columns = np.full((2, longest + 1), -1, dtype=np.int64)
        columns[0, list(top)] = range(len(top))
        columns[1, list(repeated)] = range(len(top), len(top) + len(repeated))
        top_column, repeat_column = read_only(columns[0]), read_only(columns[1])
        out = np.zeros((len(top) + len(repeated), column.num_documents), dtype=np.int64)
        for each in word_blocks(column, spacy_like=words == "spacy_like"):
            measure_gopher_ngrams(each.words, each.firsts, each.block.rows, top_column, repeat_column, out)
        names = [*(f"top_{n}_chars" for n in top), *(f"repeated_{n}_chars" for n in repeated)]
        return dict(zip(names, out, strict=True))

    return MetricGroup(f"gopher_ngrams[{words}]{top}{repeated}", measure, compiled=True, words=words)
