"""Find the n-grams of benchmark sets in documents: words, n-grams of words, and look-ups in a set of n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.compiling import inlined, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BREAK", "DROPPED", "LONE", "count_words", "find_grams", "list_grams", "list_matches"]

BREAK = 0
"""In the table of characters: one that ends a word."""
DROPPED = 1
"""One that is left out of words."""
LONE = 1 << 31
"""Marks a character that is a word by itself."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SEED = np.uint64(0x243F6A8885A308D3)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


@inlined
def _mixed(number: np.uint64) -> np.uint64:
    """Scatter 64 bits: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    number = (number ^ (number >> _S30)) * _MIX_1
    number = (number ^ (number >> _S27)) * _MIX_2
    mixed: np.uint64 = number ^ (number >> _S31)
    return mixed


@inlined
def _key(rolled: np.uint64, words: int) -> np.uint64:
    """Return the key of an n-gram; never zero, which marks a free slot."""
    key: np.uint64 = _mixed(rolled + np.uint64(words) * _MIX_1)
    return key if key != _ZERO else _ONE


@inlined
def _words(
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    table: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> int:
    """Hash the words of one document; return how many there are."""
    count = 0
    inside = False
    word = _SEED
    at = begin
    while at < end:
        first = data[at]
        if first < 0x80:
            point, width = np.int64(first), 1
        elif first < 0xE0:
            point, width = (np.int64(first & 0x1F) << 6) | (data[at + 1] & 0x3F), 2
        elif first < 0xF0:
            point = (np.int64(first & 0x0F) << 12) | (np.int64(data[at + 1] & 0x3F) << 6) | (data[at + 2] & 0x3F)
            width = 3
        else:
            point = (np.int64(first & 0x07) << 18) | (np.int64(data[at + 1] & 0x3F) << 12)
            point |= (np.int64(data[at + 2] & 0x3F) << 6) | (data[at + 3] & 0x3F)
            width = 4
        kind = table[point] if point < len(table) else np.uint32(point)
        if kind != DROPPED:
            is_letter = kind != BREAK
            if inside and (not is_letter or kind & LONE):
                hashes[count] = _mixed(word)
                count += 1
                inside = False
            if is_letter:
                if not inside:
                    inside = True
                    word = _SEED
                    starts[count] = at
                word = (word ^ np.uint64(kind)) * _BASE
                ends[count] = at + width
                if kind & LONE:
                    hashes[count] = _mixed(word)
                    count += 1
                    inside = False
        at += width
    if inside:
        hashes[count] = _mixed(word)
        count += 1
    return count


@kernel
def count_words(data: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the number of words of each document."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    hashes = np.empty(longest + 1, np.uint64)
    starts = np.empty(longest + 1, np.int64)
    ends = np.empty(longest + 1, np.int64)
    counts = np.empty(len(offsets) - 1, np.int64)
    for row in range(len(offsets) - 1):
        counts[row] = _words(data, offsets[row], offsets[row + 1], table, hashes, starts, ends)
    return counts


@kernel
def list_grams(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    prefix: int,
    total: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Return key, key of the first ``prefix`` words, and row of every n-gram of some texts.

    Args:
        data: The bytes of the texts.
        offsets: Where each begins, and where the last ends.
        table: The kind of each character.
        sizes: Words of the n-grams of each text; zero to leave a text out.
        prefix: Words of the beginning that is looked up first.
        total: How many n-grams there are in all.
    """
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    hashes = np.empty(longest + 1, np.uint64)
    starts = np.empty(longest + 1, np.int64)
    ends = np.empty(longest + 1, np.int64)
    keys = np.empty(total, np.uint64)
    prefixes = np.empty(total, np.uint64)
    rows = np.empty(total, np.int64)
    filled = 0
    for row in range(len(offsets) - 1):
        size = sizes[row]
        if size == 0:
            continue
        words = _words(data, offsets[row], offsets[row + 1], table, hashes, starts, ends)
        for first in range(words - size + 1):
            rolled = _ZERO
            for step in range(size):
                rolled = rolled * _BASE + hashes[first + step]
                if step + 1 == prefix:
                    prefixes[filled] = _key(rolled, prefix)
            keys[filled] = _key(rolled, size)
            rows[filled] = row
            filled += 1
    return keys[:filled], prefixes[:filled], rows[:filled]


@inlined
def _slot(keys: NDArray[np.uint64], key: np.uint64) -> int:
    """Return the slot that holds a key, or -1; collisions move on to the next slot."""
    mask = np.uint64(len(keys) - 1)
    at = key & mask
    while keys[at] != _ZERO:
        if keys[at] == key:
            found: int = np.int64(at)
            return found
        at = (at + _ONE) & mask
    return -1


@inlined
def _match(
    hashes: NDArray[np.uint64],
    words: int,
    bits: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    slots: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> int:
    """Fill in, for each word that a listed n-gram begins with, its slot and length; return how many there are.

    One sum rolls along, over as many words as the shortest n-gram has. Only where a filter of bits knows it, the
    n-grams of all sizes that begin here are looked up, the longest first.
    """
    prefix = sizes[0]
    found = 0
    highest = _ONE
    for _ in range(prefix - 1):
        highest = highest * _BASE
    rolled = _ZERO
    shift = np.uint64(3)
    mask = np.uint64(len(bits) * 8 - 1)
    for last in range(words):
        if last >= prefix:
            rolled = rolled - hashes[last - prefix] * highest
        rolled = rolled * _BASE + hashes[last]
        first = last - prefix + 1
        if first < 0:
            continue
        slots[first] = -1
        bit = _key(rolled, prefix) & mask
        if not (bits[bit >> shift] >> np.uint8(bit & np.uint64(7))) & 1:
            continue
        for which in range(len(sizes) - 1, -1, -1):
            size = sizes[which]
            if first + size > words:
                continue
            whole = _ZERO
            for step in range(size):
                whole = whole * _BASE + hashes[first + step]
            slot = _slot(keys, _key(whole, size))
            if slot >= 0:
                slots[first] = slot
                lengths[first] = size
                found += 1
                break
    return found


@kernel
def find_grams(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    bits: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    owners: NDArray[np.int32],
    owner_count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return for each document its words, its matches, and the benchmark with most of them (-1 for none)."""
    rows = len(offsets) - 1
    longest = 0
    for row in range(rows):
        longest = max(longest, offsets[row + 1] - offsets[row])
    hashes = np.empty(longest + 1, np.uint64)
    starts = np.empty(longest + 1, np.int64)
    ends = np.empty(longest + 1, np.int64)
    slots = np.empty(longest + 1, np.int64)
    lengths = np.empty(longest + 1, np.int64)
    tally = np.zeros(owner_count, np.int64)
    words = np.empty(rows, np.int64)
    matches = np.zeros(rows, np.int64)
    owner = np.full(rows, -1, np.int32)
    for row in range(rows):
        count = _words(data, offsets[row], offsets[row + 1], table, hashes, starts, ends)
        words[row] = count
        matches[row] = _match(hashes, count, bits, keys, sizes, slots, lengths)
        if matches[row]:
            tally[:] = 0
            for first in range(count - sizes[0] + 1):
                if slots[first] >= 0:
                    tally[owners[slots[first]]] += 1
            owner[row] = np.argmax(tally)
    return words, matches, owner


@kernel
def list_matches(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    bits: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    total: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return row, slot, first byte and end of every match, where there are ``total`` of them."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    hashes = np.empty(longest + 1, np.uint64)
    starts = np.empty(longest + 1, np.int64)
    ends = np.empty(longest + 1, np.int64)
    slots = np.empty(longest + 1, np.int64)
    lengths = np.empty(longest + 1, np.int64)
    out = np.empty((4, total), np.int64)
    filled = 0
    for row in range(len(offsets) - 1):
        count = _words(data, offsets[row], offsets[row + 1], table, hashes, starts, ends)
        _match(hashes, count, bits, keys, sizes, slots, lengths)
        for first in range(count - sizes[0] + 1):
            if slots[first] >= 0:
                out[0, filled] = row
                out[1, filled] = slots[first]
                out[2, filled] = starts[first] - offsets[row]
                out[3, filled] = ends[first + lengths[first] - 1] - offsets[row]
                filled += 1
    return out[0], out[1], out[2], out[3]
