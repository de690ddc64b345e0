"""Words, as every stage of this package counts them: maximal runs of characters that are not whitespace.

This is what ``str.split()`` returns, so it suits scripts that put spaces between words and counts a Chinese or Thai
sentence as few words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.utf8 import character_starts, measure, whitespace_mask

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from curator_text.utf8 import Utf8Block

__all__ = ["count_words", "mean_word_lengths"]


def count_words(texts: pl.Series) -> pl.Series:
    """Return the number of words of each document.

    >>> import polars as pl
    >>> count_words(pl.Series(["one two", "", None])).to_list()
    [2, 0, None]
    """
    return measure(texts, _word_counts)


def mean_word_lengths(texts: pl.Series) -> pl.Series:
    """Return the mean number of characters (code points) in a word; zero where there are no words.

    >>> import polars as pl
    >>> mean_word_lengths(pl.Series(["a bcd", " "])).to_list()
    [2.0, 0.0]
    """
    return measure(texts, _mean_word_lengths)


def _word_counts(block: Utf8Block) -> NDArray[np.int64]:
    return block.count(_word_starts(block, whitespace_mask(block.data)))


def _mean_word_lengths(block: Utf8Block) -> NDArray[np.float64]:
    space = whitespace_mask(block.data)
    words = block.count(_word_starts(block, space))
    characters = block.count(character_starts(block.data) & ~space)
    return characters / np.maximum(words, 1)


def _word_starts(block: Utf8Block, space: NDArray[np.bool_]) -> NDArray[np.bool_]:
    starts = np.empty_like(space)
    np.greater(space[:-1], space[1:], out=starts[1:])  # whitespace, then none
    first = block.document_starts()
    starts[first] = ~space[first]
    return starts
