"""Repetition of word n-grams for several n at once, as NeMo Curator counts.

Equal words get equal numbers, and so do equal n-grams: one of n words is a pair of two n-grams of n - 1 words, at its
first and its second word. An n-gram can only occur twice if both of these do, so that every step looks at what is left
of the step before: little, in most texts. All of it is exact but for the words, which are compared by 64-bit hashes.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

import numpy as np

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.hashing import slot_of
from curator_text.kernels.vector import count_bits, trail_bits

__all__ = ["measure_nemo_ngrams"]

_ONE = np.uint64(1)


@kernel
def measure_nemo_ngrams(
    data, offsets, rows, words, first_words, wants_top, wants_repeated, top_chars, repeated_chars, chars
):
    """Fill ``top_chars[n, document]``, ``repeated_chars[n, document]`` and ``chars[document]``.

    Args:
        data: UTF-8 bytes of the documents; 64 more can be read behind the last.
        offsets: Where they start and end.
        rows: Documents to look at.
        words: Their words, as :func:`curator_text.kernels.words.split_documents` has written them.
        first_words: The number of the first word of each document, and of all words.
        wants_top: For which n to fill ``top_chars``; the length of the array is one more than the largest n.
        wants_repeated: The same for ``repeated_chars``.
        top_chars: Characters of all occurrences of the most frequent n-gram, its words joined by single spaces. Of
            several that are most frequent, it is the first. -1 where a document has less than n words.
        repeated_chars: Characters of n-grams that occurred before, each counted once. -1 as above.
        chars: Characters of the document.
    """
    text = np.int64(data.ctypes.data)
    room = 1
    for document in range(rows.size):
        room = max(room, first_words[document + 1] - first_words[document])
    sums = np.empty(room + 1, np.int64)
    numbers = np.empty(room, np.int32)
    scratch = np.empty((4, room), np.int32)
    keys = np.empty(room, np.uint64)
    table = np.empty(4 * room + 16, np.int32)
    for document in range(rows.size):
        row = rows[document]
        chars[row] = _count_characters(text, offsets[row], offsets[row + 1])
        first = first_words[document]
        count = first_words[document + 1] - first
        total = np.int64(0)
        for i in range(count):
            sums[i] = total
            total += words[3][first + i]
        sums[count] = total
        _repeats_of_document(
            data,
            words[0][first : first + count],
            words[1][first : first + count],
            words[2][first : first + count],
            sums,
            numbers,
            count,
            wants_top.size - 1,
            wants_top,
            wants_repeated,
            row,
            top_chars,
            repeated_chars,
            scratch,
            keys,
            table,
        )


@inlined
def _count_characters(text, begin, end):
    trails = 0
    for base in range(begin, end, 64):
        valid = ~np.uint64(0) if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
        trails += count_bits(trail_bits(text, base) & valid)
    return end - begin - trails


@inlined
def _repeats_of_document(
    data,
    starts,
    ends,
    hashes,
    sums,
    words,
    count,
    max_n,
    wants_top,
    wants_repeated,
    row,
    top_chars,
    repeated_chars,
    scratch,
    keys,
    table,
):
    for n in range(1, max_n + 1):
        short = -1 if count < n else 0
        top_chars[n, row] = short
        repeated_chars[n, row] = short
    if count == 0:
        return
    classes, firsts, sizes, places = scratch[0], scratch[1], scratch[2], scratch[3]
    num_places = 0
    for n in range(1, min(max_n, count) + 1):
        # Give numbers to the n-grams that may occur twice.
        num_classes = 0
        if n == 1:
            candidates = count
        else:
            candidates = 0
            for k in range(num_places - 1):
                if places[k + 1] == places[k] + 1:
                    places[candidates] = places[k]
                    candidates += 1
        bits = 4
        while (1 << bits) < 2 * candidates:
            bits += 1
        mask = (1 << bits) - 1
        table[: mask + 1] = -1
        for k in range(candidates):
            if n == 1:
                place = np.int32(k)
                key = hashes[k]
            else:
                place = places[k]
                key = (np.uint64(classes[place]) << np.uint64(32)) | np.uint64(classes[place + 1])
            slot = slot_of(key, bits)
            found = np.int32(-1)
            while table[slot] >= 0:
                if keys[table[slot]] == key:
                    found = table[slot]
                    break
                slot = (slot + 1) & mask
            if found < 0:
                found = np.int32(num_classes)
                table[slot] = found
                keys[found] = key
                firsts[found] = place
                sizes[found] = 0
                num_classes += 1
            sizes[found] += 1
            classes[place] = found
            if n == 1:
                words[k] = found
        # The most frequent one, and those that occur again.
        best = np.int64(0)
        most = 1
        kept = 0
        for k in range(candidates):
            place = np.int32(k) if n == 1 else places[k]
            size = sizes[classes[place]]
            if size > 1:
                if size > most:
                    most = size
                    best = np.int64(place)
                places[kept] = place
                kept += 1
        num_places = kept
        if wants_top[n]:
            occurrences = _occurrences(data, starts, ends, words, count, best, n)
            top_chars[n, row] = occurrences * (sums[best + n] - sums[best] + n - 1)
        if wants_repeated[n] and num_places:
            repeated_chars[n, row] = _repeated(places, num_places, classes, firsts, sums, n)
        if num_places == 0 and n >= 1:
            for larger in range(n + 1, min(max_n, count) + 1):
                if wants_top[larger]:
                    occurrences = _occurrences(data, starts, ends, words, count, 0, larger)
                    top_chars[larger, row] = occurrences * (sums[larger] + larger - 1)
            return


@inlined
def _repeated(places, num_places, classes, firsts, sums, n):
    """Return the characters of n-grams that occurred before; words that were counted already are not again."""
    total = np.int64(0)
    last = -n
    for k in range(num_places):
        place = np.int64(places[k])
        if firsts[classes[place]] == place:
            continue
        covered = max(n - (place - last), 0)
        total += sums[place + n] - sums[place + covered] + min(n - covered, n - 1)
        last = place
    return total


@inlined
def _occurrences(data, starts, ends, words, count, best, n):
    """Count how often the n-gram at word ``best`` occurs in the text with single spaces between its words.

    As in :meth:`str.replace` occurrences do not overlap, and may begin and end inside a word.
    """
    first_size = ends[best] - starts[best]
    if n == 1:
        return _occurrences_of_word(data, starts, ends, count, best)
    last_start = starts[best + n - 1]
    last_size = ends[best + n - 1] - last_start
    found = 0
    free = np.int64(-1)  # end of the last occurrence
    first_end = data[ends[best] - 1]
    last_begin = byte_at(data, last_start)
    for k in range(count - n + 1):
        if data[ends[k] - 1] != first_end or data[starts[k + n - 1]] != last_begin:
            continue
        begin = ends[k] - first_size
        if begin < starts[k] or begin < free or ends[k + n - 1] - starts[k + n - 1] < last_size:
            continue
        matches = True
        for step in range(n - 1):
            if starts[k + step + 1] - ends[k + step] != 1 or data[ends[k + step]] != 32:
                matches = False
                break
            if step and words[k + step] != words[best + step]:
                matches = False
                break
        if not matches:
            continue
        if _equal(data, begin, starts[best], first_size) and _equal(data, starts[k + n - 1], last_start, last_size):
            found += 1
            free = starts[k + n - 1] + last_size
    return found


@inlined
def _occurrences_of_word(data, starts, ends, count, best):
    size = ends[best] - starts[best]
    found = 0
    for k in range(count):
        i = starts[k]
        while i + size <= ends[k]:
            if _equal(data, i, starts[best], size):
                found += 1
                i += size
            else:
                i += 1
    return found


@inlined
def _equal(data, first, second, size):
    for k in range(size):
        if byte_at(data, first + k) != byte_at(data, second + k):
            return False
    return True
