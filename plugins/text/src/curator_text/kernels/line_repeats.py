"""Count lines and paragraphs, and the different ones among them, by 64-bit hashes of their bytes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.hashing import hash_bytes, hash_pair
from curator_text.kernels.line_metrics import skip_space
from curator_text.kernels.vector import count_bits, equal_bits, first_bit, trail_bits

__all__ = ["repeat_counts"]

_FEW = 12
"""Up to this number, comparing all pairs is faster than a hash table."""
_ONE = np.uint64(1)
_SEED = np.uint64(0xCBF29CE484222325)


@kernel
def repeat_counts(data, offsets, rows, pages, kinds, first, numbers, hashes, table, counts):
    """Fill ``counts[unit, :, document]`` for lines (unit 0) and paragraphs (unit 1).

    Returns how many of ``rows`` are done: all, or those before a document with more lines than there is room for.

    Args:
        data: UTF-8 bytes of the documents; 64 more can be read behind the last.
        offsets: Where they start and end.
        rows: Documents to count.
        pages: Pages of the table of characters.
        kinds: Kinds of characters.
        first: How many of ``rows`` are done already.
        numbers: Four rows to work in; as many columns, a power of two, as there is room for lines.
        hashes: Two more.
        table: Twice as many entries to work in.
        counts: For each unit: how many, how many different, characters in all, characters in different ones.
    """
    text = np.int64(data.ctypes.data)
    pages_at = np.int64(pages.ctypes.data)
    kinds_at = np.int64(kinds.ctypes.data)
    room = numbers.shape[1]
    ends = numbers[0]  # of lines, and
    trails = numbers[1]  # bytes up to there that are not the first of a character
    line_chars, part_chars = numbers[2], numbers[3]
    line_hashes, part_hashes = hashes[0], hashes[1]
    for number in range(first, rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        all_lines, all_trails = 0, 0
        for base in range(begin, end, 64):
            valid = ~np.uint64(0) if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
            feeds = equal_bits(text, base, 0x0A) & valid
            trail = trail_bits(text, base) & valid
            if all_lines + 65 > room:
                return number
            while feeds:
                position = first_bit(feeds)
                feeds &= feeds - _ONE
                ends[all_lines] = base + position
                trails[all_lines] = all_trails + count_bits(trail & ((_ONE << np.uint64(position)) - _ONE))
                all_lines += 1
            all_trails += count_bits(trail)
        ends[all_lines] = end
        trails[all_lines] = all_trails
        lines = parts = 0
        part_hash = _SEED
        chars_of_part = 0
        start, trails_before = begin, 0
        i = 0
        while True:
            stop = ends[i]
            hashed = hash_bytes(text, start, stop)
            chars = stop - start - (trails[i] - trails_before)
            if skip_space(text, start, stop, pages_at, kinds_at) < stop:
                line_hashes[lines] = hashed
                line_chars[lines] = chars
                lines += 1
            part_hash = hash_pair(part_hash, hashed)
            chars_of_part += chars
            if i == all_lines or (stop + 1 < end and ends[i + 1] == stop + 1):
                part_hashes[parts] = part_hash
                part_chars[parts] = chars_of_part
                parts += 1
                part_hash = _SEED
                chars_of_part = 0
                if i == all_lines:
                    break
                i += 1  # the second newline
            else:
                chars_of_part += 1  # the newline inside
            start, trails_before = ends[i] + 1, trails[i]
            i += 1
        _count_distinct(line_hashes[:lines], line_chars, table, counts[0, :, row])
        _count_distinct(part_hashes[:parts], part_chars, table, counts[1, :, row])
    return rows.size


@inlined
def _count_distinct(hashes, chars, table, counts):
    slots = 64
    while slots < 2 * hashes.size:
        slots *= 2
    if hashes.size > _FEW:
        table[:slots] = -1
    distinct = all_chars = distinct_chars = 0
    for at in range(hashes.size):
        all_chars += chars[at]
        is_new = True
        if hashes.size <= _FEW:
            for other in range(at):
                if hashes[other] == hashes[at]:
                    is_new = False
                    break
        else:
            slot = np.int64(hashes[at] & np.uint64(slots - 1))
            while table[slot] >= 0:
                if hashes[table[slot]] == hashes[at]:
                    is_new = False
                    break
                slot = (slot + 1) & (slots - 1)
            if is_new:
                table[slot] = at
        if is_new:
            distinct += 1
            distinct_chars += chars[at]
    counts[0] = hashes.size
    counts[1] = distinct
    counts[2] = all_chars
    counts[3] = distinct_chars
