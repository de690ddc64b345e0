"""Repetition of word n-grams for several n at once.

Equal words get equal numbers, and so do equal n-grams: one of n words is a pair of two n-grams of n - 1 words, at its
first and its second word. An n-gram can only occur twice if both of these do, so that every step looks at what is left
of the step before: little, in most texts. All of it is exact but for the words, which are compared by 64-bit hashes.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.code_points import is_space, size_of_space
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.rolling_hash import SEED, finish, mix

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["n_gram_repeats"]


@kernel
def n_gram_repeats(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    wants_top: NDArray[np.bool_],
    wants_repeated: NDArray[np.bool_],
    top_chars: NDArray[np.int64],
    repeated_chars: NDArray[np.int64],
    chars: NDArray[np.int64],
) -> None:
    """Fill ``top_chars[n, document]``, ``repeated_chars[n, document]`` and ``chars[document]``.

    Args:
        data: UTF-8 bytes of the documents.
        offsets: Where they start and end.
        rows: Documents to look at.
        wants_top: For which n to fill ``top_chars``; the length of the array is one more than the largest n.
        wants_repeated: The same for ``repeated_chars``.
        top_chars: Characters of all occurrences of the most frequent n-gram, its words joined by single spaces. Of
            several that are most frequent, it is the first. -1 where a document has less than n words.
        repeated_chars: Characters of n-grams that occurred before, each counted once. -1 as above.
        chars: Characters of the document.
    """
    largest = wants_top.size - 1
    room = 256
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    hashes, sums = np.empty(room, np.uint64), np.empty(room + 1, np.int64)
    words = np.empty(room, np.int32)
    scratch = np.empty((4, room), np.int32)
    keys = np.empty(room, np.uint64)
    table = np.empty(4 * room, np.int32)
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        count, continuation = _split(data, begin, end, starts, ends, hashes, sums)
        if count > room:
            while room < count:
                room *= 2
            starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
            hashes, sums = np.empty(room, np.uint64), np.empty(room + 1, np.int64)
            words = np.empty(room, np.int32)
            scratch = np.empty((4, room), np.int32)
            keys = np.empty(room, np.uint64)
            table = np.empty(4 * room, np.int32)
            _split(data, begin, end, starts, ends, hashes, sums)
        chars[row] = end - begin - continuation
        _repeats_of_document(
            data,
            starts,
            ends,
            hashes,
            sums,
            words,
            count,
            largest,
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
def _split(data, begin, end, starts, ends, hashes, sums):
    """Write down where words start and end, their hashes and the characters before each; return their number."""
    i = begin
    count = continuation = 0
    total = np.int64(0)
    room = starts.size
    while i < end:
        byte = byte_at(data, i)
        if byte < 0x80:
            if is_space(byte):
                i += 1
                continue
        else:
            size = size_of_space(data, i)
            if size:
                continuation += size - 1
                i += size
                continue
        start = i
        hashed = SEED
        before = continuation
        while i < end:
            byte = byte_at(data, i)
            if byte < 0x80:
                if is_space(byte):
                    break
            elif byte >= 0xC0:
                if size_of_space(data, i):
                    break
            else:
                continuation += 1
            hashed = mix(hashed, byte)
            i += 1
        if count < room:
            starts[count] = start
            ends[count] = i
            hashes[count] = finish(hashed)
            sums[count] = total
        total += i - start - (continuation - before)
        count += 1
    if count <= room:
        sums[count] = total
    return count, continuation


@inlined
def _repeats_of_document(
    data,
    starts,
    ends,
    hashes,
    sums,
    words,
    count,
    largest,
    wants_top,
    wants_repeated,
    row,
    top_chars,
    repeated_chars,
    scratch,
    keys,
    table,
):
    for n in range(1, largest + 1):
        short = -1 if count < n else 0
        top_chars[n, row] = short
        repeated_chars[n, row] = short
    if count == 0:
        return
    classes, firsts, sizes, places = scratch[0], scratch[1], scratch[2], scratch[3]
    num_places = 0
    for n in range(1, min(largest, count) + 1):
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
        slots = 16
        while slots < 2 * candidates:
            slots *= 2
        table[:slots] = -1
        mask = np.uint64(slots - 1)
        for k in range(candidates):
            if n == 1:
                place = np.int32(k)
                key = hashes[k]
                slot = np.int64(key & mask)
            else:
                place = places[k]
                key = (np.uint64(classes[place]) << np.uint64(32)) | np.uint64(classes[place + 1])
                slot = np.int64(finish(key) & mask)
            found = np.int32(-1)
            while table[slot] >= 0:
                if keys[table[slot]] == key:
                    found = table[slot]
                    break
                slot = (slot + 1) & np.int64(slots - 1)
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
            for larger in range(n + 1, min(largest, count) + 1):
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
