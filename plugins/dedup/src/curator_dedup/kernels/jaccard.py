"""The Jaccard similarity of documents, exactly: how many of their different shingles they share."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel
from curator_dedup.kernels.shingles import SCRATCH_SIZE, STATE_SIZE, fill_hashes

__all__ = ["jaccard_of_pairs"]

_BUFFER = 4096
_SPACE, _DELETE = 32, 127
_SKIP_SHIFT = np.uint64(40)
_MAX_SHINGLES = 1 << 23
"""Shingles of a document that are compared. Of a longer one, a fraction is drawn by hash, the same in both documents:
the similarity is then off by a thousandth at most."""


@kernel
def jaccard_of_pairs(data: Any, offsets: Any, ngrams: Any, by_word: Any, powers: Any, first: Any, second: Any) -> Any:
    """Return the similarity of pairs of documents; zero where one has no shingles.

    The shingles of the first document of a pair are kept for the pairs that follow, so sort the pairs by it.

    Args:
        data: The bytes of all documents.
        offsets: Where each begins, and where the last ends.
        ngrams: Characters or words in a shingle.
        by_word: Whether shingles are made of words.
        powers: From :func:`curator_dedup.kernels.shingles.powers_of_base`.
        first: Number of one document of each pair.
        second: Number of the other.
    """
    similarity = np.zeros(len(first))
    buffer = np.empty(_BUFFER, np.uint64)
    ring = np.empty(ngrams + SCRATCH_SIZE, np.uint64)
    state = np.zeros(STATE_SIZE, np.uint64)
    table = np.empty(16, np.uint64)
    marks = np.empty(16, np.int64)
    own = np.empty(16, np.uint64)
    seen = np.empty(16, np.int64)
    held, held_count, held_skip = np.int64(-1), 0, np.uint64(0)
    size = 16
    for pair in range(len(first)):
        one, other = first[pair], second[pair]
        begin, end = offsets[one], offsets[one + 1]
        other_begin, other_end = offsets[other], offsets[other + 1]
        if _are_equal(data, begin, end, other_begin, other_end):
            state[:] = 0
            if _has_letter(data, begin, end) or fill_hashes(
                data, begin, end, ngrams, by_word, powers, state, ring, buffer
            ):
                similarity[pair] = 1.0
            continue
        skip = _skipped(max(end - begin, other_end - other_begin))
        if one != held or skip != held_skip:
            state[:] = 0
            count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
            size = _table_size(count if state[-1] else _max_shingles(end - begin, by_word, skip))
            if size > len(table):
                table = np.empty(size, np.uint64)
                marks = np.empty(size, np.int64)
            marks[:size] = -1
            held, held_count, held_skip = one, 0, skip
            while count:
                for index in range(count):
                    value = buffer[index]
                    if value >> _SKIP_SHIFT & skip:
                        continue
                    slot = _find(table, marks, size, value)
                    if marks[slot] < 0:
                        table[slot] = value
                        marks[slot] = 0
                        held_count += 1
                count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
        state[:] = 0
        count = fill_hashes(data, other_begin, other_end, ngrams, by_word, powers, state, ring, buffer)
        own_size = _table_size(count if state[-1] else _max_shingles(other_end - other_begin, by_word, skip))
        if own_size > len(own):
            own = np.empty(own_size, np.uint64)
            seen = np.empty(own_size, np.int64)
        seen[:own_size] = -1
        shared = alone = 0
        while count:
            for index in range(count):
                value = buffer[index]
                if value >> _SKIP_SHIFT & skip:
                    continue
                slot = _find(table, marks, size, value)
                if marks[slot] >= 0:
                    if marks[slot] != pair + 1:  # each shingle counts once
                        marks[slot] = pair + 1
                        shared += 1
                    continue
                slot = _find(own, seen, own_size, value)
                if seen[slot] < 0:
                    own[slot] = value
                    seen[slot] = 0
                    alone += 1
            count = fill_hashes(data, other_begin, other_end, ngrams, by_word, powers, state, ring, buffer)
        if held_count and shared + alone:
            similarity[pair] = shared / (held_count + alone)
    return similarity


@inlined
def _are_equal(data: Any, begin: Any, end: Any, other_begin: Any, other_end: Any) -> Any:
    if end - begin != other_end - other_begin:
        return False
    for index in range(np.uint64(end - begin)):
        if data[np.uint64(begin) + index] != data[np.uint64(other_begin) + index]:
            return False
    return True


@inlined
def _has_letter(data: Any, begin: Any, end: Any) -> Any:
    """Return whether a document has a printable character of one byte: then it has a shingle of any kind."""
    for index in range(np.uint64(begin), np.uint64(end)):
        if _SPACE < data[index] < _DELETE:
            return True
    return False


@inlined
def _max_shingles(size: Any, by_word: Any, skip: Any) -> Any:
    """Return the approximate maximum number of drawn shingles of a document of some bytes."""
    return (size // 2 + 1 if by_word else size) // (np.int64(skip) + 1)


@inlined
def _find(table: Any, marks: Any, size: Any, value: Any) -> Any:
    mask = np.uint64(size - 1)
    slot = value & mask
    while marks[slot] >= 0 and table[slot] != value:
        slot = (slot + np.uint64(1)) & mask
    return slot


@inlined
def _table_size(max_count: Any) -> Any:
    size = 16
    while size < 2 * max_count:
        size *= 2
    return size


@inlined
def _skipped(max_count: Any) -> Any:
    """Return the bits of a hash that must be zero for a shingle to be drawn, for a document of ``max_count`` bytes."""
    bits = np.uint64(0)
    while max_count >> np.int64(bits) > _MAX_SHINGLES:
        bits += np.uint64(1)
    return (np.uint64(1) << bits) - np.uint64(1)
