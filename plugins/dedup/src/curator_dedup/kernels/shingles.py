"""Hashes of the shingles of a document: its runs of n characters, or of n words, one after the other.

A shingle's hash is a polynomial over its bytes (or over the hashes of its words) modulo 2^64, mixed. It is made a part
of the document at a time, so that a document of any length needs the same memory.

The slow part of such hashes is latency: each byte waits for the product of the one before, and mispredicted branches
at word ends stall the processor. So characters are hashed four at a time; words are found first, without branches, and
then hashed eight bytes at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined
from curator_dedup.kernels.mixing import BASE, mix64

__all__ = ["SCRATCH_SIZE", "STATE_SIZE", "fill_hashes", "powers_of_base"]

_BASE = np.uint64(BASE)
_CHARS_PER_SHINGLE_BYTES = 4
STATE_SIZE = 6
"""Numbers that a half-done document needs: see :func:`fill_hashes`."""
SCRATCH_SIZE = 1024
"""Numbers of scratch beside those of a shingle: bytes that are searched for the ends of words at once."""
# Kinds of first bytes: nothing special, a space, or one of the spaces of several bytes (as str.isspace has them).
_SPACE, _PERHAPS = 1, 2
_KINDS = np.zeros(256, np.uint8)
_KINDS[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = _SPACE
_KINDS[[0xC2, 0xE1, 0xE2, 0xE3]] = _PERHAPS
_LEFT, _RIGHT, _HASH, _LENGTH, _COUNT, _DONE = range(STATE_SIZE)
_NONE, _ONE, _TWO, _THREE, _EIGHT = (np.uint64(number) for number in (0, 1, 2, 3, 8))
_POWERS = np.array([pow(BASE, exponent, 1 << 64) for exponent in range(9)], np.uint64)
# Factors of the last eight bytes of a word: zero for bytes before its beginning.
_WEIGHTS = np.array(
    [[_POWERS[7 - index] if 8 - index <= length else 0 for index in range(8)] for length in range(9)], np.uint64
)
_SQUARE, _CUBE, _FOURTH_POWER = _POWERS[2], _POWERS[3], _POWERS[4]


def powers_of_base(ngrams: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the powers of the base that shingles of ``ngrams`` characters or words need."""
    powers = np.ones(_CHARS_PER_SHINGLE_BYTES * ngrams + 2, np.uint64)
    with np.errstate(over="ignore"):
        for exponent in range(1, len(powers)):
            powers[exponent] = powers[exponent - 1] * _BASE
    return powers


@inlined
def fill_hashes(
    data: Any, begin: Any, end: Any, ngrams: Any, by_word: Any, powers: Any, state: Any, ring: Any, out: Any
) -> Any:
    """Write the next hashes of the document ``data[begin:end]`` to ``out``; return how many, zero at the end.

    A document with fewer than n characters or words is one shingle; one without any has none.

    Args:
        data: The bytes of all documents.
        begin: Where the document begins.
        end: Where it ends.
        ngrams: Characters or words in a shingle.
        by_word: Whether shingles are made of words.
        powers: From :func:`powers_of_base`.
        state: ``STATE_SIZE`` zeros before the first call.
        ring: Scratch of ``ngrams`` and ``SCRATCH_SIZE`` numbers.
        out: Where the hashes go; room for more than ``SCRATCH_SIZE``.
    """
    if state[_DONE]:
        return 0
    if by_word:
        return _fill_words(data, begin, end, ngrams, powers, state, ring, out)
    return _fill_characters(data, begin, end, ngrams, powers, state, out)


@inlined
def _fill_characters(data: Any, begin: Any, end: Any, ngrams: Any, powers: Any, state: Any, out: Any) -> Any:
    left, right = np.int64(state[_LEFT]), np.int64(state[_RIGHT])
    value = np.uint64(state[_HASH])
    length = np.int64(state[_LENGTH])
    count = 0
    room = len(out)
    if length == 0:
        left = right = begin
        characters = 0
        while right < end and (characters < ngrams or (data[right] & 0xC0) == 0x80):
            characters += (data[right] & 0xC0) != 0x80
            value = value * _BASE + np.uint64(data[right])
            right += 1
        length = right - left
        if length:
            out[0] = mix64(value)
            count = 1
    drop = powers[ngrams]
    while right < end and count < room:
        if length == ngrams:  # each character of the window is one byte, as nearly always
            steps, value = _roll(data, left, right, min(end - right, room - count), value, drop, out[count:])
            left += steps
            right += steps
            count += steps
            while right < end and count < room and data[right] < 0x80:
                value = value * _BASE + np.uint64(data[right]) - np.uint64(data[left]) * drop
                out[count] = mix64(value)
                left += 1
                right += 1
                count += 1
            if right >= end or count >= room:
                break
        value -= np.uint64(data[left]) * powers[length - 1]
        left += 1
        length -= 1
        while (data[left] & 0xC0) == 0x80:
            value -= np.uint64(data[left]) * powers[length - 1]
            left += 1
            length -= 1
        value = value * _BASE + np.uint64(data[right])
        right += 1
        length += 1
        while right < end and (data[right] & 0xC0) == 0x80:
            value = value * _BASE + np.uint64(data[right])
            right += 1
            length += 1
        out[count] = mix64(value)
        count += 1
    state[_LEFT], state[_RIGHT], state[_LENGTH] = left, right, length
    state[_HASH] = value
    state[_DONE] = right >= end
    return count


@inlined
def _roll(data: Any, left: Any, right: Any, max_moves: Any, value: Any, drop: Any, out: Any) -> Any:
    """Move the window over characters of one byte, four at a time; return how many, and the hash there."""
    # Unsigned numbers: with signed ones, every access to an array asks whether the index is negative.
    done, limit = np.uint64(0), np.uint64(max_moves) & ~np.uint64(3)
    behind, before = np.uint64(left), np.uint64(right)
    while done < limit:
        at, old = before + done, behind + done
        in0, in1, in2, in3 = data[at], data[at + _ONE], data[at + _TWO], data[at + _THREE]
        if (in0 | in1 | in2 | in3) >= 0x80:
            break
        first = np.uint64(in0) - np.uint64(data[old]) * drop
        second = np.uint64(in1) - np.uint64(data[old + _ONE]) * drop + first * _BASE
        third = np.uint64(in2) - np.uint64(data[old + _TWO]) * drop + second * _BASE
        fourth = np.uint64(in3) - np.uint64(data[old + _THREE]) * drop + third * _BASE
        out[done] = mix64(value * _BASE + first)
        out[done + _ONE] = mix64(value * _SQUARE + second)
        out[done + _TWO] = mix64(value * _CUBE + third)
        value = value * _FOURTH_POWER + fourth
        out[done + _THREE] = mix64(value)
        done += np.uint64(4)
    return np.int64(done), value


@inlined
def _fill_words(data: Any, begin: Any, end: Any, ngrams: Any, powers: Any, state: Any, ring: Any, out: Any) -> Any:
    # Unsigned numbers throughout: with signed ones, every access to an array asks whether the index is negative.
    if state[_LENGTH] == 0:
        state[_LENGTH] = 1
        state[_LEFT] = state[_RIGHT] = begin
    left, position = state[_LEFT], state[_RIGHT]  # where a word begins; up to where ends of words have been looked for
    words, rolling = state[_COUNT], state[_HASH]
    stop, size = np.uint64(end), np.uint64(ngrams)
    ends = ring[ngrams:]
    drop = powers[ngrams]
    slot = words % size
    count = _NONE
    last = np.uint64(len(out) - SCRATCH_SIZE)
    while position < stop and count < last:
        searched = min(stop, position + np.uint64(SCRATCH_SIZE - 1))
        found = _NONE
        for at in range(position, searched):
            ends[found] = at
            found += np.uint64(_KINDS[data[at]] != 0)
        position = searched
        ends[found] = stop
        for index in range(found + np.uint64(searched == stop)):
            right = ends[index]
            width = _ONE
            if index < found and _KINDS[data[right]] != _SPACE:
                width = np.uint64(_space_width(data, np.int64(right), end))
                if width == _NONE:
                    continue
            if right > left:
                word = mix64(_word_hash(data, left, right))
                rolling = rolling * _BASE + word
                if words >= size:
                    rolling -= ring[slot] * drop
                ring[slot] = word
                words += _ONE
                slot += _ONE
                if slot == size:
                    slot = _NONE
                if words >= size:
                    out[count] = mix64(rolling)
                    count += _ONE
            left = right + width
    if position >= stop:
        state[_DONE] = 1
        if _NONE < words < size:
            out[0] = mix64(rolling)
            count = _ONE
    state[_LEFT], state[_RIGHT], state[_COUNT] = left, position, words
    state[_HASH] = rolling
    return np.int64(count)


@inlined
def _word_hash(data: Any, left: Any, right: Any) -> Any:
    """Return the polynomial of a word's bytes, behind a leading one."""
    value = _ONE
    if right < _EIGHT:  # at the very beginning there are no eight bytes before its end
        for at in range(left, right):
            value = value * _BASE + np.uint64(data[at])
        return value
    length = right - left
    while length > _EIGHT:
        left += _EIGHT
        length -= _EIGHT
        value = value * _POWERS[8]
        for index in range(_EIGHT):
            value += np.uint64(data[left - _EIGHT + index]) * _WEIGHTS[_EIGHT, index]
    value = value * _POWERS[length]
    for index in range(_EIGHT):
        value += np.uint64(data[right - _EIGHT + index]) * _WEIGHTS[length, index]
    return value


@inlined
def _space_width(data: Any, position: Any, end: Any) -> Any:
    """Return the bytes of the character at a position if it is one of the longer spaces, else zero."""
    byte = data[position]
    if byte == 0xC2:
        return 2 if position + 1 < end and data[position + 1] in (0x85, 0xA0) else 0
    if position + 2 >= end:
        return 0
    point = (
        (np.int64(byte) & 0x0F) << 12 | (np.int64(data[position + 1]) & 0x3F) << 6 | np.int64(data[position + 2]) & 0x3F
    )
    is_space = 0x2000 <= point <= 0x200A or point in (0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
    return 3 if is_space else 0
