"""Counts over the words of documents, split in one of several ways."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["GOPHER_STOP_WORDS", "EnglishWords", "Words", "word_counts"]

EnglishWords = Literal["whitespace", "spacy_like"]
"""How text is split into words: at whitespace, as ``str.split()`` does, or as spaCy's English tokenizer does."""
Words = Literal["whitespace", "spacy_like", "chinese", "japanese", "thai"]
"""The same, or at whitespace after a segmenter has put spaces between the words of a script without them."""

GOPHER_STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
"""Gopher, Rae et al. 2021, appendix A.1.1."""

MAX_STOP_WORDS = 64
_TABLE = 256


@cache
def word_counts(words: Words = "whitespace", stop_words: tuple[str, ...] = GOPHER_STOP_WORDS) -> MetricGroup:
    """Return the group of metrics that needs words, but not their order.

    ``words``; ``word_chars``, the characters of all; ``longest_word``, in characters; ``alpha_words``, which have a
    letter; ``solid_words``, which have a character that is not punctuation (by datatrove's list), and
    ``solid_word_chars``, the characters of those; ``stop_words``, how many different ones occur.

    >>> import polars as pl
    >>> word_counts().of_texts(pl.Series(["the cat, the mat ..."])).row(0, named=True)["stop_words"]
    1

    Args:
        words: How text is split.
        stop_words: At most 64 words.
    """

    def measure(column: TextBytes) -> Mapping[str, NDArray[Any]]:
        from curator_text.kernels.blocks import word_blocks
        from curator_text.kernels.read_only import read_only
        from curator_text.kernels.split_tables import hash_table
        from curator_text.kernels.word_metrics import WORD_COLUMNS, measure_words

        keys, places = hash_table(dict.fromkeys(stop_words), _TABLE)
        bits = np.zeros(_TABLE, dtype=np.uint64)
        for number, place in enumerate(places.values()):
            bits[place] = 1 << number
        longest = max(map(len, stop_words), default=0)
        out = np.zeros((len(WORD_COLUMNS), column.num_documents), dtype=np.int64)
        for each in word_blocks(column, spacy_like=words == "spacy_like"):
            measure_words(each.words, each.firsts, each.block.rows, read_only(keys), read_only(bits), longest, out)
        return dict(zip(WORD_COLUMNS, out, strict=True))

    assert len(stop_words) <= MAX_STOP_WORDS, stop_words
    return MetricGroup(f"word_counts[{words}]{sorted(stop_words)}", measure, compiled=True, words=words)
