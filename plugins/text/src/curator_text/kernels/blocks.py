"""Give kernels some documents at a time: few enough that the results stay in a core's cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.kernels.read_only import read_only
from curator_text.kernels.split_tables import split_tables
from curator_text.kernels.words import split_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["ALL_BYTES", "Block", "WordBlock", "blocks", "word_blocks", "word_room"]

BLOCK_BYTES = 1 << 17
"""Bytes of documents in a block, unless a single document has more."""
ALL_BYTES = 1 << 62
"""For kernels that make nothing of documents but numbers."""
PADDING = 64
"""Bytes that kernels may read behind a document."""


@dataclass(frozen=True)
class Block:
    """Some documents.

    Args:
        data: Their bytes among others; :data:`PADDING` more can be read behind any of them.
        offsets: Where documents start in ``data``.
        rows: Numbers of the documents of this block.
        size_bytes: Bytes that they have.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    size_bytes: int


def blocks(column: TextBytes, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield the documents that are to be measured.

    >>> import polars as pl
    >>> from curator_text.metrics.text_bytes import text_bytes
    >>> [block.rows.tolist() for block in blocks(text_bytes(pl.Series(["one", "two"])))]
    [[0, 1]]

    Args:
        column: The documents.
        block_bytes: Bytes of documents in a block, unless a single document has more.
    """
    rows = column.rows_to_measure
    offsets = column.offsets
    # The last documents are copied to where something may be read behind them.
    padded_from = int(np.searchsorted(offsets[1:], len(column.data) - PADDING, side="right"))
    first_padded = int(np.searchsorted(rows, padded_from))
    yield from _cut(column.data, offsets, rows[:first_padded], block_bytes)
    if first_padded < len(rows):
        begin = int(offsets[padded_from])
        tail = np.concatenate([column.data[begin:], np.zeros(PADDING, dtype=np.uint8)])
        yield from _cut(tail, offsets - begin, rows[first_padded:], block_bytes)


def _cut(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.int64], block_bytes: int
) -> Iterator[Block]:
    if not len(rows):
        return
    sizes = np.cumsum(offsets[rows + 1] - offsets[rows])
    data, offsets = read_only(data), read_only(np.ascontiguousarray(offsets))
    first, done = 0, 0
    while first < len(rows):
        last = max(first + 1, int(np.searchsorted(sizes, done + block_bytes, side="right")))
        total = int(sizes[last - 1])
        yield Block(data, offsets, read_only(np.ascontiguousarray(rows[first:last])), total - done)
        first, done = last, total


@dataclass(frozen=True)
class WordBlock:
    """The words of some documents.

    Args:
        words: Starts, ends, hashes, characters and flags of words, and two arrays to work in.
        firsts: Number of the first word of each document, and of all words.
        block: The documents.
    """

    words: tuple[NDArray[Any], ...]
    firsts: NDArray[np.int64]
    block: Block


def word_blocks(column: TextBytes, *, spacy_like: bool) -> Iterator[WordBlock]:
    """Yield the words of the documents that are to be measured. Each block overwrites the one before.

    Args:
        column: The documents.
        spacy_like: Whether to split words as spaCy's English tokenizer does.
    """
    words: tuple[NDArray[Any], ...] = ()
    tables = split_tables()
    for block in blocks(column):
        if not words or len(words[0]) < block.size_bytes:
            words = word_room(max(block.size_bytes, BLOCK_BYTES), spacy_like=spacy_like)
        firsts = np.empty(len(block.rows) + 1, dtype=np.int64)
        split_documents(block.data, block.offsets, block.rows, spacy_like, tables, words, firsts)
        yield WordBlock(words, firsts, block)


def word_room(max_words: int, *, spacy_like: bool) -> tuple[NDArray[Any], ...]:
    """Return room for words; memory that is never written to is never really taken."""
    extra = max_words if spacy_like else 1
    kinds: list[tuple[int, Any]] = [
        (max_words, np.int64),
        (max_words, np.int64),
        (max_words, np.uint64),
        (max_words, np.int32),
        (max_words, np.uint8),
        (extra, np.int64),
        (extra, np.int64),
    ]
    return tuple(np.empty(size, dtype) for size, dtype in kinds)
