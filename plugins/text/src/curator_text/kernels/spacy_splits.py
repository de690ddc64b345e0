"""Split a run of characters into words as spaCy's English tokenizer does.

The rules for cutting at the front, at the end and inside of a run, and for leaving it whole, are those of spaCy
3.8 (``lang/punctuation.py``, ``lang/en/punctuation.py``, ``tokenizer.pyx``), written as look-ups of the kinds of
characters (:mod:`curator_text.kernels.characters`) and of a table of exceptions. One thing is simpler here: where
pieces next to each other make up an exception, they are always joined to it, however the exception itself would be cut.
"""

from __future__ import annotations

import numpy as np

from curator_text.kernels.characters import (
    ALPHA,
    PUNCTUATION,
    SENTENCE_END,
    SPLIT_ALPHA,
    SPLIT_BEFORE_STOP,
    SPLIT_CURRENCY,
    SPLIT_INSIDE,
    SPLIT_LOWER,
    SPLIT_PREFIX,
    SPLIT_QUOTE,
    SPLIT_SUFFIX,
    SPLIT_UPPER,
    SYMBOL,
)
from curator_text.kernels.compiling import inlined
from curator_text.kernels.hashing import hash_bytes
from curator_text.kernels.spacy_urls import is_url
from curator_text.kernels.utf8 import kind_at, kind_before, start_before, width_at
from curator_text.kernels.vector import byte_at, int64_at, put_byte, put_int32, put_int64, uint32_at, uint64_at

__all__ = ["ENDS_SENTENCE", "HAS_ALPHA", "HAS_SOLID", "IS_PUNCTUATION", "split_chunk"]

HAS_ALPHA = 1
"""The word has a letter."""
HAS_SOLID = 2
"""The word has a character that is not punctuation by datatrove's list."""
IS_PUNCTUATION = 4
"""All characters of the word are punctuation; looked at only where words are split as spaCy does."""
ENDS_SENTENCE = 8
"""The word is one character that ends sentences; looked at only where words are split as spaCy does."""

EXCEPTIONS_SIZE, SIEVE_SIZE, UNITS_SIZE = 1 << 12, 1 << 13, 1 << 8
"""Entries of the tables of exceptions and units."""
MAX_EXCEPTION_CHARS = 40
"""Bytes; no exception is longer."""
MAX_JOINED = 11
"""Pieces that an exception is cut into at most."""
MAY_BE_JOINED = 1 << 24
"""Marks exceptions that pieces are joined to: those that the rules would cut."""
MAX_UNIT_CHARS = 10
"""Bytes of the longest unit of measurement that is cut off a number."""

_DOT, _PLUS, _MINUS, _COMMA, _TILDE = 0x2E, 0x2B, 0x2D, 0x2C, 0x7E


@inlined
def put_word(words, number, start, end, value, chars, flags):
    """Write one word and return the number of words."""
    put_int64(words[0], number, start)
    put_int64(words[1], number, end)
    put_int64(words[2], number, np.int64(value))
    put_int32(words[3], number, chars)
    put_byte(words[4], number, flags)
    return number + 1


@inlined
def _look_up(data, start, end, tables):
    """Return the lengths of the pieces of an exception, eight bits each; zero for no exception."""
    if end - start > MAX_EXCEPTION_CHARS or end <= start:
        return 0
    value = hash_bytes(data, start, end)
    sieve, keys, pieces = tables[2], tables[3], tables[4]
    number = np.int64(value)
    if not byte_at(sieve, number & (SIEVE_SIZE - 1)):
        return 0
    slot = number & (EXCEPTIONS_SIZE - 1)
    while uint64_at(keys, slot):
        if uint64_at(keys, slot) == value:
            return uint32_at(pieces, slot)
        slot = (slot + 1) & (EXCEPTIONS_SIZE - 1)
    return 0


@inlined
def _is_digit(byte):
    return byte >= 0x30 and byte <= 0x39


@inlined
def _prefix_length(data, start, end, tables):
    """Return the bytes to cut off the front."""
    first = byte_at(data, start)
    if first == _DOT:
        stop = start + 1
        while stop < end and byte_at(data, stop) == _DOT:
            stop += 1
        return stop - start if stop - start > 1 else 0
    if first == _PLUS:
        return 0 if start + 1 < end and _is_digit(byte_at(data, start + 1)) else 1
    if kind_at(data, start, tables[0], tables[1]) & SPLIT_PREFIX:
        return width_at(data, start)
    if first in (0x41, 0x43) and start + 1 < end and byte_at(data, start + 1) == 0x24:  # A$ C$
        return 2
    if (
        first == 0x55 and start + 2 < end and byte_at(data, start + 1) == 0x53 and byte_at(data, start + 2) == 0x24
    ):  # US$
        return 3
    return 0


@inlined
def _suffix_length(data, start, end, tables):
    """Return the bytes to cut off the end: the most that any rule cuts off."""
    if end <= start:
        return 0
    pages, kinds = tables[0], tables[1]
    last = start_before(data, start, end)
    kind = kind_at(data, last, pages, kinds)
    byte = byte_at(data, last)
    if byte == _DOT:
        at = last
        while at > start and byte_at(data, at - 1) == _DOT:
            at -= 1
        if at < last:
            return end - at
        before = kind_before(data, start, last, pages, kinds)
        if before & SPLIT_BEFORE_STOP:
            return 1
        if before & SPLIT_UPPER:
            at = start_before(data, start, last)
            return 1 if kind_before(data, start, at, pages, kinds) & SPLIT_UPPER else 0
        if (
            before and last - 3 >= start and byte_at(data, last - 3) == 0xC2 and byte_at(data, last - 2) == 0xB0
        ):  # degrees
            return 1 if (byte_at(data, last - 1) | 0x20) in (0x63, 0x66, 0x6B) else 0
        return 0
    if kind & SPLIT_SUFFIX:
        # Two ellipsis characters go together.
        if byte == 0xE2 and last - 3 >= start and byte_at(data, last + 1) == 0x80 and byte_at(data, last + 2) == 0xA6:
            if byte_at(data, last - 3) == 0xE2 and byte_at(data, last - 2) == 0x80 and byte_at(data, last - 1) == 0xA6:
                return 6
        return end - last
    if (byte | 0x20) == 0x73:  # 's with either apostrophe
        if last - 1 >= start and byte_at(data, last - 1) == 0x27:
            return 2
        if (
            last - 3 >= start
            and byte_at(data, last - 3) == 0xE2
            and byte_at(data, last - 2) == 0x80
            and byte_at(data, last - 1) == 0x99
        ):
            return 4
    # The following units are cut off numbers only: find the last digit.
    digit = last
    while digit > start and end - digit <= MAX_UNIT_CHARS and not _is_digit(byte_at(data, digit)):
        digit -= 1
    if not _is_digit(byte_at(data, digit)) or digit == last:
        return 0
    if byte == _PLUS:
        return 1 if digit == last - 1 else 0
    if kind & SPLIT_CURRENCY:
        if digit == last - 1:
            return end - last
        if byte == 0x24 and digit == last - 2 and byte_at(data, last - 1) in (0x41, 0x43):
            return 2
        if byte == 0x24 and digit == last - 3 and byte_at(data, last - 2) == 0x55 and byte_at(data, last - 1) == 0x53:
            return 3
        return 0
    value = hash_bytes(data, digit + 1, end)
    units = tables[5]
    slot = np.int64(value) & (UNITS_SIZE - 1)
    while uint64_at(units, slot):
        if uint64_at(units, slot) == value:
            return end - digit - 1
        slot = (slot + 1) & (UNITS_SIZE - 1)
    return 0


@inlined
def _is_alpha_at(data, at, end, tables):
    return at < end and (kind_at(data, at, tables[0], tables[1]) & SPLIT_ALPHA) != 0


@inlined
def _infix_length(data, start, at, end, tables):
    """Return the bytes of the cut at ``at``, inside the run from ``start`` to ``end``; zero for none."""
    pages, kinds = tables[0], tables[1]
    byte = byte_at(data, at)
    if byte == _DOT:
        stop = at + 1
        while stop < end and byte_at(data, stop) == _DOT:
            stop += 1
        if stop - at > 1:
            return stop - at
        if stop == end or not kind_before(data, start, at, pages, kinds) & (SPLIT_LOWER | SPLIT_QUOTE):
            return 0
        return 1 if kind_at(data, stop, pages, kinds) & (SPLIT_UPPER | SPLIT_QUOTE) else 0
    if byte >= 0x80 and kind_at(data, at, pages, kinds) & SPLIT_INSIDE:
        return width_at(data, at)
    if byte in (_PLUS, _MINUS, 0x2A, 0x5E) and at > start and _is_digit(byte_at(data, at - 1)):  # + - * ^
        if at + 1 < end and (_is_digit(byte_at(data, at + 1)) or byte_at(data, at + 1) == _MINUS):
            return 1
    before = kind_before(data, start, at, pages, kinds) & SPLIT_ALPHA
    if byte == _COMMA:
        return 1 if before and _is_alpha_at(data, at + 1, end, tables) else 0
    if not before and not (at > start and _is_digit(byte_at(data, at - 1))):
        return 0
    if byte in (_TILDE, 0x3A, 0x3C, 0x3E, 0x3D, 0x2F):  # : < > = /
        return 1 if _is_alpha_at(data, at + 1, end, tables) else 0
    if byte == _MINUS:
        for count in (1, 2, 3):
            if at + count > end or byte_at(data, at + count - 1) != _MINUS:
                break
            if _is_alpha_at(data, at + count, end, tables):
                return count
        return 0
    if (
        byte == 0xE2 and byte_at(data, at + 1) == 0x80 and byte_at(data, at + 2) in (0x93, 0x94)
    ):  # en and em dash, two of the latter
        if _is_alpha_at(data, at + 3, end, tables):
            return 3
        is_double = byte_at(data, at + 2) == 0x94 and at + 6 <= end
        if (
            is_double
            and byte_at(data, at + 3) == 0xE2
            and byte_at(data, at + 4) == 0x80
            and byte_at(data, at + 5) == 0x94
        ):
            return 6 if _is_alpha_at(data, at + 6, end, tables) else 0
    return 0


@inlined
def _add(data, start, end, tables, words, number):
    """Add one word."""
    pages, kinds = tables[0], tables[1]
    chars = 0
    some = 0
    common = PUNCTUATION | SENTENCE_END
    has_solid = False
    at = start
    while at < end:
        kind = kind_at(data, at, pages, kinds)
        some |= kind
        common &= kind
        has_solid |= (kind & SYMBOL) == 0
        at += width_at(data, at)
        chars += 1
    flags = HAS_ALPHA if some & ALPHA else 0
    if has_solid:
        flags |= HAS_SOLID
    if common & PUNCTUATION:
        flags |= IS_PUNCTUATION
    if common & SENTENCE_END and chars == 1:
        flags |= ENDS_SENTENCE
    return put_word(words, number, start, end, hash_bytes(data, start, end), chars, flags)


@inlined
def _add_pieces(data, start, end, pieces, tables, words, number):
    """Add the pieces of an exception."""
    while start < end:
        length = pieces & 0xFF
        pieces >>= 8
        number = _add(data, start, start + length, tables, words, number)
        start += length
    return number


@inlined
def _add_inside(data, start, end, tables, words, number):
    """Cut the rest between front and end."""
    at = start
    done = start
    is_first_cut = True
    while at < end:
        byte = byte_at(data, at)
        is_letter = (byte | 0x20) >= 0x61 and (byte | 0x20) <= 0x7A
        length = 0
        if not is_letter and not _is_digit(byte):
            length = _infix_length(data, start, at, end, tables)
        if length == 0:
            at += width_at(data, at)
            continue
        if at > start:
            if is_first_cut:
                is_first_cut = False
                if is_url(data, start, end, tables):
                    break
            if at > done:
                number = _add(data, done, at, tables, words, number)
            number = _add(data, at, at + length, tables, words, number)
            done = at + length
        at += length
    return _add(data, done, end, tables, words, number) if done < end else number


@inlined
def _join_exceptions(data, first, number, tables, words):
    """Join pieces next to each other that make up an exception, longest first, and return the number of words."""
    starts, ends, joined, kept = words[0], words[1], words[5], words[6]
    count = number - first
    found = False
    for i in range(count):
        put_int64(joined, i, 0)
        put_int64(kept, i, 0)
    for size in range(min(MAX_JOINED, count), 1, -1):
        for i in range(count - size + 1):
            begin, end = int64_at(starts, first + i), int64_at(ends, first + i + size - 1)
            if _look_up(data, begin, end, tables) & MAY_BE_JOINED:
                if not int64_at(kept, i) and not int64_at(kept, i + size - 1):
                    found = True
                    put_int64(joined, i, size)
                for j in range(i, i + size):  # blocks others even where it was itself too late
                    put_int64(kept, j, 1)
    if not found:
        return number
    for i in range(count):
        put_int64(kept, i, int64_at(starts, first + i))
    end = int64_at(ends, number - 1)
    number = first
    i = 0
    while i < count:
        size = int64_at(joined, i)
        step = max(1, size)
        begin = int64_at(kept, i)
        stop = int64_at(kept, i + step) if i + step < count else end
        if size > 0:
            number = _add_pieces(data, begin, stop, _look_up(data, begin, stop, tables), tables, words, number)
        else:
            number = _add(data, begin, stop, tables, words, number)
        i += step
    return number


@inlined
def split_chunk(data, start, end, plain, tables, words, number):
    """Add the words that a run of characters splits into, and return the number of words.

    Args:
        data: Bytes.
        start: Where the run starts.
        end: Where it ends.
        plain: How many ASCII letters it starts with, or fewer.
        tables: Kinds of characters and exceptions.
        words: The words so far (see :func:`curator_text.kernels.words.word_arrays`).
        number: Their number.
    """
    if plain >= end - start - 1 and plain > 0:
        # Nearly all words: letters, with a mark behind them or not.
        letters_end = start + plain
        pieces = _look_up(data, start, letters_end, tables)
        if letters_end == end and pieces:
            return _add_pieces(data, start, end, pieces, tables, words, number)
        mark = byte_at(data, end - 1)
        is_cut_off = letters_end == end or mark == _COMMA or mark == 0x3A or mark == 0x3B or mark == 0x29  # : ; )
        if mark == _DOT and plain > 1 and byte_at(data, end - 2) >= 0x61 and not _look_up(data, start, end, tables):
            is_cut_off = True
        if is_cut_off and not pieces:
            value = hash_bytes(data, start, letters_end)
            number = put_word(words, number, start, letters_end, value, plain, HAS_ALPHA | HAS_SOLID)
            return number if letters_end == end else _add(data, letters_end, end, tables, words, number)
    pieces = _look_up(data, start, end, tables)
    if pieces:
        return _add_pieces(data, start, end, pieces, tables, words, number)
    first = number
    behind = words[5]
    suffixes = 0
    low, high = start, end
    last_size = -1
    while high > low and high - low != last_size:
        if _look_up(data, low, high, tables):
            break
        last_size = high - low
        before = _prefix_length(data, low, high, tables)
        if before and _look_up(data, low + before, high, tables):
            number = _add(data, low, low + before, tables, words, number)
            low += before
            break
        after = _suffix_length(data, low + before, high, tables)
        if after and _look_up(data, low, high - after, tables):
            put_int64(behind, suffixes, high - after)
            suffixes += 1
            high -= after
            break
        if before:
            number = _add(data, low, low + before, tables, words, number)
            low += before
        if after:
            put_int64(behind, suffixes, high - after)
            suffixes += 1
            high -= after
    if high > low:
        pieces = _look_up(data, low, high, tables)
        if pieces:
            number = _add_pieces(data, low, high, pieces, tables, words, number)
        else:
            number = _add_inside(data, low, high, tables, words, number)
    for i in range(suffixes - 1, -1, -1):
        stop = int64_at(behind, i - 1) if i > 0 else end
        number = _add(data, int64_at(behind, i), stop, tables, words, number)
    return _join_exceptions(data, first, number, tables, words) if number - first > 2 else number
