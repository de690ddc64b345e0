"""How much of a document is in n-grams of words that occur again, as datatrove and as NeMo Curator count."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from curator_core.sdk import Filter, NodeInfo
    from curator_table import SpacedWords
    from curator_text.metrics.text_bytes import TextBytes
    from curator_text.metrics.word_counts import Words

__all__ = ["compile_nemo_ngrams", "gopher_ngrams", "nemo_ngrams"]


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

    def measure(column: TextBytes) -> dict[str, NDArray[Any]]:
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


_TOP = frozenset({2, 3, 4})
_REPEATED = frozenset(range(2, 11))
"""The lengths of Gopher's rules (Rae et al. 2021, table A1) are measured in one go, and those between at no cost."""


@cache
def nemo_ngrams(*, top: int = 2, repeated: int = 2, words: SpacedWords = "whitespace") -> MetricGroup:
    """Return the group that has ``top_N`` and ``repeated_N`` for the given lengths.

    ``top_N`` is the fraction of characters in the most frequent n-gram, ``repeated_N`` of those in n-grams that
    occurred before (see :mod:`curator_text.kernels.nemo_ngrams`); one where a document has less than N words.

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
        **{f"top_{n}": _fractions(counts[0, n], chars) for n in sorted(top)},
        **{f"repeated_{n}": _fractions(counts[1, n], chars) for n in sorted(repeated)},
    }


def _fractions(counts: NDArray[np.int64], chars: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(counts < 0, 1.0, counts / np.maximum(chars, 1))


def compile_nemo_ngrams(stage: Filter, node: NodeInfo) -> None:  # noqa: ARG001 - the same for every stage and node
    """Compile the counting of n-grams as in NeMo Curator: the ``setup_on_node`` of filters that measure it."""
    nemo_ngrams().prepare()
