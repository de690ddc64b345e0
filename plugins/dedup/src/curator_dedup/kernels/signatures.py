"""MinHash signatures of documents, straight from their bytes.

There are two ways of making them. With both, two documents agree in an entry with the probability that is the Jaccard
similarity of their sets of shingles:

- *sketching* (Dahlgaard, Knudsen and Thorup, "Fast Similarity Sketching", FOCS 2017): every shingle goes to one entry,
  in a second round to another; an entry that got none is the minimum over all shingles. The work per shingle does not
  depend on the number of entries: best where there are many shingles, as with characters.
- *multiplication*: every entry is the minimum of its own linear function over all shingles, computed for eight shingles
  and many entries at once with SIMD: best where there are few shingles, as with words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel
from curator_dedup.kernels.shingles import SCRATCH_SIZE, STATE_SIZE, fill_hashes

__all__ = ["SKETCH_ROUNDS", "multiplied_signatures", "sketched_signatures"]

_BUFFER = 4096
"""Shingles worked on at a time; a document with more is gone through once for each round."""
_LANES = 8
SKETCH_ROUNDS = 4
"""Rounds in which entries are filled; the last takes minima for those that are still empty."""
_ROUND_BITS = 2
_HALF = np.uint64(32)


@kernel
def sketched_signatures(
    data: Any, offsets: Any, ngrams: Any, by_word: Any, powers: Any, multipliers: Any, seed: Any, signatures: Any
) -> Any:
    """Fill ``signatures`` (documents x entries, unsigned) by sketching; return how many shingles each document has.

    The two highest bits of an entry say in which round it was filled. A later round cannot lower what an earlier one
    left, so it is skipped where every entry is filled.
    """
    documents, entries = signatures.shape
    bits = np.uint64(signatures.itemsize * 8 - _ROUND_BITS)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    untouched = ~np.uint64(0) >> (np.uint64(62) - bits)
    counts = np.zeros(documents, np.int64)
    buffer = np.empty(_BUFFER, np.uint64)
    ring = np.empty(ngrams + SCRATCH_SIZE, np.uint64)
    state = np.zeros(STATE_SIZE, np.uint64)
    row = np.empty(entries, np.uint64)
    for document in range(documents):
        begin, end = offsets[document], offsets[document + 1]
        row[:] = untouched
        state[:] = 0
        total = 0
        count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
        is_whole = state[-1] != 0
        for current in range(SKETCH_ROUNDS):
            if current and not is_whole:
                state[:] = 0
                count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
            while count:
                if current == 0:
                    total += count
                    _scatter(buffer, count, seed, np.uint64(0), mask, row)
                elif current < SKETCH_ROUNDS - 1:
                    _scatter(buffer, count, seed ^ multipliers[current], np.uint64(current) << bits, mask, row)
                else:
                    _fill_empty(buffer, count, multipliers, np.uint64(current) << bits, mask, row)
                if is_whole:
                    break
                count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
            limit = np.uint64(current + 1) << bits
            has_empty = False
            for entry in range(entries):
                has_empty |= row[entry] >= limit
            if not has_empty or total == 0:
                break
        counts[document] = total
        for entry in range(entries):
            signatures[document, entry] = row[entry]
    return counts


@inlined
def _scatter(hashes: Any, count: Any, salt: Any, level: Any, mask: Any, row: Any) -> None:
    entries = np.uint64(len(row))
    for index in range(count):
        value = hashes[index] * salt
        entry = (value >> _HALF) * entries >> _HALF
        value = (value ^ value >> _HALF) & mask | level
        row[entry] = min(row[entry], value)


@inlined
def _fill_empty(hashes: Any, count: Any, multipliers: Any, level: Any, mask: Any, row: Any) -> None:
    for entry in range(len(row)):
        if row[entry] < level:
            continue
        multiplier = multipliers[entry]
        least = row[entry]
        for index in range(count):
            value = hashes[index] * multiplier
            value = (value ^ value >> _HALF) & mask | level
            least = min(least, value)
        row[entry] = least


@kernel
def multiplied_signatures(
    data: Any, offsets: Any, ngrams: Any, by_word: Any, powers: Any, factors: Any, terms: Any, signatures: Any
) -> Any:
    """Fill ``signatures`` (documents x entries, unsigned) by multiplication; return each document's shingles."""
    documents, _ = signatures.shape
    shift = np.uint64(64 - signatures.itemsize * 8)
    counts = np.zeros(documents, np.int64)
    buffer = np.empty(_BUFFER, np.uint64)
    narrow = np.empty(_BUFFER + _LANES, signatures.dtype)
    ring = np.empty(ngrams + SCRATCH_SIZE, np.uint64)
    state = np.zeros(STATE_SIZE, np.uint64)
    for document in range(documents):
        begin, end = offsets[document], offsets[document + 1]
        row = signatures[document]
        row[:] = ~signatures.dtype.type(0)
        state[:] = 0
        count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
        while count:
            counts[document] += count
            for index in range(count):
                narrow[index] = buffer[index] >> shift
            padded = (count + _LANES - 1) // _LANES * _LANES
            for index in range(count, padded):  # a shingle twice changes no minimum
                narrow[index] = narrow[0]
            for first in range(0, padded, _LANES):
                _lower(row, factors, terms, narrow[first : first + _LANES])
            count = fill_hashes(data, begin, end, ngrams, by_word, powers, state, ring, buffer)
    return counts


@inlined
def _lower(row: Any, factors: Any, terms: Any, shingles: Any) -> None:
    x0, x1, x2, x3 = shingles[0], shingles[1], shingles[2], shingles[3]
    x4, x5, x6, x7 = shingles[4], shingles[5], shingles[6], shingles[7]
    kind = row.dtype.type
    for entry in range(len(row)):
        factor, term = factors[entry], terms[entry]
        least = row[entry]
        least = min(least, kind(factor * x0 + term))
        least = min(least, kind(factor * x1 + term))
        least = min(least, kind(factor * x2 + term))
        least = min(least, kind(factor * x3 + term))
        least = min(least, kind(factor * x4 + term))
        least = min(least, kind(factor * x5 + term))
        least = min(least, kind(factor * x6 + term))
        least = min(least, kind(factor * x7 + term))
        row[entry] = least
