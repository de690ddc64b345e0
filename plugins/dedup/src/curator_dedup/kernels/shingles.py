"""Hashes of the shingles of a document: its runs of n characters, or of n words, one after the other.

A shingle's hash is a polynomial over its bytes (or over the hashes of its words) modulo 2^64, mixed. It is made a part
of the document at a time, so that a document of any length needs the same memory.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from curator_dedup.kernels.mixing import BASE, mix64

__all__ = ["STATE_SIZE", "fill_hashes", "powers_of_base"]

_BASE = np.uint64(BASE)
_CHARS_PER_SHINGLE_BYTES = 4
STATE_SIZE = 6
"""Numbers that a half-done document needs: see :func:`fill_hashes`."""
# What a byte can begin: nothing special, a space, or one of the spaces of several bytes (as str.isspace has them).
_SPACE, _PERHAPS = 1, 2
_KINDS = np.zeros(256, np.uint8)
_KINDS[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = _SPACE
_KINDS[[0xC2, 0xE1, 0xE2, 0xE3]] = _PERHAPS
_LEFT, _RIGHT, _HASH, _LENGTH, _COUNT, _DONE = range(STATE_SIZE)


def powers_of_base(ngrams: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the powers of the base that shingles of ``ngrams`` characters or words need."""
    powers = np.ones(_CHARS_PER_SHINGLE_BYTES * ngrams + 2, np.uint64)
    with np.errstate(over="ignore"):
        for exponent in range(1, len(powers)):
            powers[exponent] = powers[exponent - 1] * _BASE
    return powers


@numba.njit(cache=True, nogil=True)
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
        ring: Scratch of ``ngrams`` numbers.
        out: Where the hashes go.
    """
    if state[_DONE]:
        return 0
    if by_word:
        return _fill_words(data, begin, end, ngrams, powers, state, ring, out)
    return _fill_characters(data, begin, end, ngrams, powers, state, out)


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _fill_words(data: Any, begin: Any, end: Any, ngrams: Any, powers: Any, state: Any, ring: Any, out: Any) -> Any:
    position = np.int64(state[_RIGHT]) if state[_LENGTH] else begin
    state[_LENGTH] = 1
    words = np.int64(state[_COUNT])
    rolling = np.uint64(state[_HASH])
    drop = powers[ngrams]
    slot = words % ngrams
    count = 0
    room = len(out)
    while position < end and count < room:
        kind = _KINDS[data[position]]
        if kind:
            width = 1 if kind == _SPACE else _space_width(data, position, end)
            if width:
                position += width
                continue
        word = np.uint64(1)
        while True:  # at least one byte, which is none of a space
            word = word * _BASE + np.uint64(data[position])
            position += 1
            if position >= end:
                break
            kind = _KINDS[data[position]]
            if kind and (kind == _SPACE or _space_width(data, position, end)):
                break
        word = mix64(word)
        rolling = rolling * _BASE + word
        if words >= ngrams:
            rolling -= ring[slot] * drop
        ring[slot] = word
        words += 1
        slot += 1
        if slot == ngrams:
            slot = 0
        if words >= ngrams:
            out[count] = mix64(rolling)
            count += 1
    if position >= end:
        state[_DONE] = 1
        if 0 < words < ngrams:
            out[0] = mix64(rolling)
            count = 1
    state[_RIGHT], state[_COUNT] = position, words
    state[_HASH] = rolling
    return count


@numba.njit(cache=True, nogil=True)
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
