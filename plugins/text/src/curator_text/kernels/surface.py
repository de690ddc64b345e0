"""One pass over the bytes of each document that counts characters, words and lines of many kinds."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.surface_marks import address_end, has_ellipsis, has_end_mark, is_common_word, is_ellipsis
from curator_text.kernels.surface_tables import BRACKET, BULLET, CONTENT, DIGIT, LETTER, SPACE
from curator_text.kernels.utf8 import point_at, width_at
from curator_text.kernels.vector import (
    byte_at,
    class_bits,
    count_bits,
    equal_bits,
    equal_lower_bits,
    first_bit,
    in_range_bits,
    load_8,
    trail_bits,
)

__all__ = ["surface_counts"]

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_LAST = np.uint64(1 << 63)
_ALL = ~_NONE


@inlined
def _low_bits(count):
    """Return that many bits, fewer than 64, from the lowest."""
    return (_ONE << np.uint64(count)) - _ONE


@inlined
def _short_word(data, start, size):
    """Return up to five bytes as one number."""
    return load_8(data, start) & _low_bits(8 * size)


@kernel
def surface_counts(data, offsets, rows, kinds, url_bytes, counts):
    """Fill one column of ``counts`` for every document.

    Args:
        data: UTF-8 bytes of the documents; 64 more can be read behind the last.
        offsets: Where they start and end.
        rows: Documents to count.
        kinds: Kind of every code point.
        url_bytes: Which bytes an address consists of, but for the per cent sign.
        counts: One row per metric, one column per document.
    """
    text = np.int64(data.ctypes.data)
    kinds_at = np.int64(kinds.ctypes.data)
    url_at = np.int64(url_bytes.ctypes.data)
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        continuation = content = digits = brackets = letters = blanks = newlines = url_chars = 0
        more_content = 0
        words = word_chars = longest = lettered = symbols = common = 0
        lines = bullet_lines = ended = ellipses = 0
        in_word = line_has_word = is_new_line = False
        start = word_end = url_end = begin
        word_letters = _NONE
        word_trails = hash_runs = 0
        spill = 0  # bytes of a white space that reaches into the next block
        hash_before = _NONE
        base = begin
        while base < end:
            valid = _ALL if end - base >= 64 else _low_bits(end - base)
            space, letter, digit, high = class_bits(text, base)
            feeds = equal_bits(text, base, 0x0A) & valid
            letter &= valid
            digit &= valid
            high &= valid
            space |= ~valid
            marks = equal_bits(text, base, 0x21) | equal_bits(text, base, 0x2C)
            marks |= equal_bits(text, base, 0x2E) | equal_bits(text, base, 0x3F)
            pairs = in_range_bits(text, base, 0x28, 0x29)
            pairs |= equal_lower_bits(text, base, 0x7B) | equal_lower_bits(text, base, 0x7D)
            gaps = in_range_bits(text, base, 8, 10) | equal_bits(text, base, 13) | equal_bits(text, base, 32)
            newlines += count_bits(feeds)
            letters += count_bits(letter)
            digits += count_bits(digit)
            content += count_bits((letter | digit | marks) & valid)
            brackets += count_bits(pairs & valid)
            blanks += count_bits(gaps & valid)
            hashes = equal_bits(text, base, 0x23) & valid
            run_starts = _NONE
            if hashes:
                run_starts = hashes & ~((hashes << _ONE) | hash_before)
            hash_before = hashes >> np.uint64(63)
            # An address begins with htt; what the last byte is followed by is seen there.
            addresses = equal_bits(text, base, 0x68) & ((equal_bits(text, base, 0x74) >> _ONE) | _LAST) & valid
            while addresses:
                at = base + first_bit(addresses)
                addresses &= addresses - _ONE
                if at >= url_end and at + 8 <= end:
                    url_end = address_end(text, at, end, url_at)
                    url_chars += url_end - at
            trail = _NONE
            if high or spill:
                trail = trail_bits(text, base) & high
                continuation += count_bits(trail)
                space |= _low_bits(spill)
                spill = 0
                leads = high & ~trail
                while leads:
                    at = first_bit(leads)
                    leads &= leads - _ONE
                    kind = byte_at(kinds_at, point_at(text, base + at))
                    if kind & SPACE:
                        width = width_at(text, base + at)
                        space |= _low_bits(width) << np.uint64(at)
                        spill = max(0, at + width - 64)
                    elif kind:
                        more_content += (kind & CONTENT) != 0
                        digits += (kind & DIGIT) != 0
                        brackets += (kind & BRACKET) != 0
                        if kind & LETTER:
                            letters += 1
                            letter |= _ONE << np.uint64(at)
            position = 0
            while True:
                if not in_word:
                    ahead = ~space >> np.uint64(position)
                    if not ahead:
                        is_new_line |= (feeds >> np.uint64(position)) != 0
                        break
                    gap = first_bit(ahead)
                    is_new_line |= ((feeds >> np.uint64(position)) & _low_bits(gap)) != 0
                    position += gap
                    start = base + position
                    in_word = True
                    word_letters = _NONE
                    word_trails = hash_runs = 0
                    if is_new_line:
                        if line_has_word:
                            lines += 1
                            ended += has_end_mark(text, word_end)
                            ellipses += has_ellipsis(text, begin, word_end)
                            line_has_word = False
                        is_new_line = False
                    if not line_has_word and byte_at(text, start) >= 0x80:
                        bullet_lines += (byte_at(kinds_at, point_at(text, start)) & BULLET) != 0
                ahead = space >> np.uint64(position)
                is_whole = ahead != 0 or base + 64 == end  # the word ends in this block, or with it
                length = first_bit(ahead) if ahead else 64 - position
                inside = _low_bits(length) if length < 64 else _ALL
                word_letters |= (letter >> np.uint64(position)) & inside
                if trail:
                    word_trails += count_bits((trail >> np.uint64(position)) & inside)
                if run_starts:
                    hash_runs += count_bits((run_starts >> np.uint64(position)) & inside)
                if not is_whole:
                    break
                position += length
                in_word = False
                line_has_word = True
                word_end = base + position
                size = word_end - start
                chars = size - word_trails
                words += 1
                word_chars += chars
                longest = max(longest, chars)
                lettered += word_letters != 0
                if size <= 5:
                    key = _short_word(text, start, size)
                    common += is_common_word(key, size)
                    symbols += hash_runs * 2 > chars or is_ellipsis(key, size)
                else:
                    symbols += hash_runs * 2 > chars
                if position == 64:
                    break
            base += 64
        if line_has_word:
            lines += 1
            ended += has_end_mark(text, word_end)
            ellipses += has_ellipsis(text, begin, word_end)
        counts[0, row] = end - begin - continuation
        counts[1, row] = content + newlines
        counts[2, row] = content + newlines + more_content
        counts[3, row] = digits
        counts[4, row] = blanks
        counts[5, row] = brackets
        counts[6, row] = letters
        counts[7, row] = url_chars
        counts[8, row] = newlines
        counts[9, row] = words
        counts[10, row] = word_chars
        counts[11, row] = longest
        counts[12, row] = lettered
        counts[13, row] = symbols
        counts[14, row] = common
        counts[15, row] = lines
        counts[16, row] = bullet_lines
        counts[17, row] = ended
        counts[18, row] = ellipses
