"""Repetition of word n-grams, as shares of a document's characters, as NeMo Curator counts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from curator_table import SpacedWords
    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["nemo_ngrams"]

_TOP = frozenset({2, 3, 4})
_REPEATED = frozenset(range(2, 11))
"""The lengths of Gopher's rules (Rae et al. 2021, table A1) are measured in one go, and those between at no cost."""


@cache
def nemo_ngrams(*, top: int = 2, repeated: int = 2, words: SpacedWords = "whitespace") -> MetricGroup:
    """Return the group that has ``top_N`` and ``repeated_N`` for the lengths asked for.

    ``top_N`` is the share of characters in the most frequent n-gram, ``repeated_N`` of those in n-grams that occurred
    before (see :mod:`curator_text.kernels.nemo_ngrams`); one where a document has less than N words.

    >>> import polars as pl
    >>> nemo_ngrams(top=2).of_texts(pl.Series(["a b a b c"]))["top_2"].to_list()
    [0.6666666666666666]

    Args:
        top: A length for which ``top_N`` is needed.
        repeated: A length for which ``repeated_N`` is needed.
        words: How text is split.
    """
    if top in _TOP and repeated in _REPEATED:
        return _published(words)
    return MetricGroup(
        f"nemo_ngrams[{words}] {top} {repeated}",
        lambda texts: _measure(texts, {top}, {repeated}),
        compiled=True,
        words=words,
    )


@cache
def _published(words: SpacedWords) -> MetricGroup:
    return MetricGroup(
        f"nemo_ngrams[{words}]", lambda texts: _measure(texts, _TOP, _REPEATED), compiled=True, words=words
    )


def _measure(texts: TextBytes, top: Collection[int], repeated: Collection[int]) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.blocks import word_blocks
    from curator_text.kernels.nemo_ngrams import measure_nemo_ngrams

    lengths = np.arange(max(*top, *repeated) + 1)
    wanted = np.isin(lengths, list(top)), np.isin(lengths, list(repeated))
    counts = np.zeros((2, len(lengths), texts.num_documents), dtype=np.int64)
    chars = np.zeros(texts.num_documents, dtype=np.int64)
    for each in word_blocks(texts, spacy_like=False):
        block = each.block
        documents = (block.data, block.offsets, block.rows)
        measure_nemo_ngrams(*documents, each.words, each.firsts, *wanted, counts[0], counts[1], chars)
    return {
        **{f"top_{n}": _shares(counts[0, n], chars) for n in sorted(top)},
        **{f"repeated_{n}": _shares(counts[1, n], chars) for n in sorted(repeated)},
    }


def _shares(counts: NDArray[np.int64], chars: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(counts < 0, 1.0, counts / np.maximum(chars, 1))
