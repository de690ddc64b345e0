"""Measure how much n-grams of words repeat, as datatrove counts for Gopher's rules.

An n-gram can only occur twice if the two (n-1)-grams in it do. So pairs of words are counted in a hash table, triples
only where both of their pairs occur again, and so on: in ordinary text little is left to look at beyond n = 4, and all
n together cost hardly more than the pairs. An n-gram is known by the places where its two (n-1)-grams occur first, so
only the hashes of single words can collide.
"""

from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.hashing import hash_pair, slot_of

__all__ = ["measure_gopher_ngrams"]


@inlined
def _table_bits(entries):
    """Return the bits of a table that is at most half full."""
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return bits


@inlined
def _number_ngrams(count, places, keys, firsts, counts, table):
    """Find, for n-grams given by their keys, where each occurs first and how often; return the most frequent one.

    The first of several that are equally frequent is taken.

    Args:
        count: Number of n-grams.
        places: Their places in the document, ascending.
        keys: The key of the n-gram at each place of the document.
        firsts: Where the n-gram at a place occurs first: written.
        counts: How often the n-gram that occurs first at a place occurs: written there only.
        table: Working space of zeros, with a power of two of entries, at least twice ``count``.
    """
    bits = 0
    while (1 << bits) < table.size:
        bits += 1
    mask = table.size - 1
    top_count = 0
    top_place = 0
    for i in range(count):
        place = places[i]
        key = keys[place]
        slot = slot_of(key, bits)
        while True:
            found = table[slot]
            if found == 0:
                table[slot] = place + 1
                firsts[place] = place
                counts[place] = 1
                if top_count == 0:
                    top_count = 1
                    top_place = place
                break
            first = np.int64(found) - 1
            if keys[first] == key:
                firsts[place] = first
                occurs = counts[first] + 1
                counts[first] = occurs
                if occurs > top_count or (occurs == top_count and first < top_place):
                    top_count = occurs
                    top_place = first
                break
            slot = (slot + 1) & mask
    return top_count, top_place


@kernel
def measure_gopher_ngrams(words, firsts, rows, top_column, repeat_column, out):
    """Fill a column of ``out`` for each document.

    Args:
        words: The words of the documents, as :func:`curator_text.kernels.words.split_documents` has written them.
        firsts: The number of the first word of each document, and of all words.
        rows: The documents.
        top_column: For each n, the column for the characters in all occurrences of the most frequent n-gram, with a
            space between words; negative for none.
        repeat_column: For each n, the column for the characters in n-grams that occurred before, without spaces. Words
            are gone through from the first; behind an n-gram that occurred before, the next n words are skipped.
        out: Result, zero.
    """
    longest_n = top_column.size - 1
    size = 1
    for document in range(rows.size):
        size = max(size, firsts[document + 1] - firsts[document])
    keys = np.empty(size, np.uint64)
    before = np.empty(size + 1, np.int64)
    places = np.empty(size, np.int32)
    firsts_of = np.empty(size, np.int32)
    counts = np.empty(size, np.int32)
    seen = np.empty(size, np.uint8)
    table = np.empty(1 << _table_bits(size), np.int32)
    for document in range(rows.size):
        row = rows[document]
        first_word = firsts[document]
        number = firsts[document + 1] - first_word
        hashes = words[2][first_word : first_word + number]
        chars = words[3][first_word : first_word + number]
        total = 0
        for i in range(number):
            before[i] = total
            total += chars[i]
        before[number] = total
        candidates = number - 1  # pairs of words
        for i in range(candidates):
            keys[i] = hash_pair(hashes[i], hashes[i + 1])
            places[i] = i
        for n in range(2, longest_n + 1):
            if number < n:
                break
            top_count = top_place = 0
            if candidates > 0:
                entries = 1 << _table_bits(candidates)
                work = table[:entries]
                work[:] = 0
                top_count, top_place = _number_ngrams(candidates, places, keys, firsts_of, counts, work)
            if top_column[n] >= 0:
                if top_count < 2:
                    top_count, top_place = 1, 0  # all occur once: the first one counts
                length = before[top_place + n] - before[top_place] + n - 1
                out[top_column[n], row] = length * top_count
            kept = 0
            for i in range(candidates):
                place = places[i]
                if counts[firsts_of[place]] > 1:
                    places[kept] = place
                    kept += 1
            if repeat_column[n] >= 0:
                for i in range(kept):
                    seen[firsts_of[places[i]]] = 0
                repeated = 0
                free = 0
                for i in range(kept):
                    place = np.int64(places[i])
                    if place >= free:
                        first = firsts_of[place]
                        if seen[first]:
                            repeated += before[place + n] - before[place]
                            free = place + n
                        else:
                            seen[first] = 1
                out[repeat_column[n], row] = repeated
            candidates = 0
            for i in range(kept - 1):
                place = places[i]
                if places[i + 1] == place + 1:
                    keys[place] = (np.uint64(firsts_of[place]) << np.uint64(32)) | np.uint64(firsts_of[place + 1])
                    places[candidates] = place
                    candidates += 1
            if candidates == 0:
                kept = 0
