"""Look for a few phrases in all paragraphs, in any case.

The search stops at rare pairs of letters only: every phrase has one of ``ok iv rm em`` in it, and is compared from
there to both sides. Lower case is that of :meth:`str.lower`: beside A to Z, the Kelvin sign is a k.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.vector import byte_at, equal_bits, equal_lower_bits, first_bit
from curator_text.metrics.boilerplate_strings import PLACEHOLDER, STRINGS

__all__ = ["boilerplate_counts"]

_PHRASES = [each.encode() for each in (PLACEHOLDER, *STRINGS)]
_BYTES = np.frombuffer(b"".join(_PHRASES), dtype=np.uint8)
_ENDS = np.cumsum([len(each) for each in _PHRASES])
_STARTS = _ENDS - np.array([len(each) for each in _PHRASES])
_ANCHORS = _STARTS + np.array([min(each.find(letter) for letter in b"kvm" if letter in each) for each in _PHRASES])

_KELVIN = 0xAA
"""Last byte of the Kelvin sign, E2 84 AA."""
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_TOP = np.uint64(63)


@kernel
def boilerplate_counts(data, offsets, rows, counts):
    """Count the paragraphs, those with a phrase, and the placeholders of every document.

    Args:
        data: UTF-8 bytes of the documents; 64 more can be read behind the last.
        offsets: Where they start and end.
        rows: Documents to look at.
        counts: Three rows, one column per document.
    """
    text = np.int64(data.ctypes.data)
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        paragraphs = 1
        found = placeholders = 0
        is_found = False
        free = begin  # where the next paragraph may begin: behind the second of two newlines
        # Of the byte before a block: whether it is the first of a pair that a phrase is told by.
        o_before = i_before = re_before = _NONE
        for base in range(begin, end, 64):
            valid = ~_NONE if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
            letter_o = equal_lower_bits(text, base, 0x6F)
            letter_i = equal_lower_bits(text, base, 0x69)
            letter_re = equal_lower_bits(text, base, 0x72) | equal_lower_bits(text, base, 0x65)
            anchors = equal_lower_bits(text, base, 0x6B) & ((letter_o << _ONE) | o_before)
            anchors |= equal_lower_bits(text, base, 0x76) & ((letter_i << _ONE) | i_before)
            anchors |= equal_lower_bits(text, base, 0x6D) & ((letter_re << _ONE) | re_before)
            anchors |= equal_bits(text, base, 0xAA)
            o_before, i_before, re_before = letter_o >> _TOP, letter_i >> _TOP, letter_re >> _TOP
            marks = (anchors | equal_bits(text, base, 0x0A)) & valid
            while marks:
                at = base + first_bit(marks)
                marks &= marks - _ONE
                if byte_at(text, at) == 10:
                    if at >= free and at + 1 < end and byte_at(text, at + 1) == 10:
                        paragraphs += 1
                        found += is_found
                        is_found = False
                        free = at + 2
                else:
                    phrase = _phrase_at(text, begin, at, end)
                    placeholders += phrase == 0
                    is_found |= phrase > 0
        counts[0, row] = paragraphs
        counts[1, row] = found + is_found
        counts[2, row] = placeholders


@inlined
def _phrase_at(data, begin, at, end):
    """Return the number of the phrase whose anchor is at ``at``, or -1."""
    letter = _lower(byte_at(data, at))
    after = at + 1
    if letter == _KELVIN:
        if at - 2 < begin or byte_at(data, at - 2) != 0xE2 or byte_at(data, at - 1) != 0x84:
            return -1
        letter = 107
        at -= 2
    for phrase in range(_ANCHORS.size):
        anchor = _ANCHORS[phrase]
        if _BYTES[anchor] == letter and _is_phrase(data, begin, at, after, end, phrase):
            return phrase
    return -1


@inlined
def _is_phrase(data, begin, at, after, end, phrase):
    i = at
    for k in range(_ANCHORS[phrase] - 1, _STARTS[phrase] - 1, -1):  # no k before the anchor
        i -= 1
        if i < begin or _lower(byte_at(data, i)) != _BYTES[k]:
            return False
    i = after
    for k in range(_ANCHORS[phrase] + 1, _ENDS[phrase]):
        if i >= end:
            return False
        if (
            _BYTES[k] == 107
            and byte_at(data, i) == 0xE2
            and i + 2 < end
            and byte_at(data, i + 1) == 0x84
            and byte_at(data, i + 2) == _KELVIN
        ):
            i += 3
        elif _lower(byte_at(data, i)) == _BYTES[k]:
            i += 1
        else:
            return False
    return True


@inlined
def _lower(byte):
    return byte + 32 if 65 <= byte <= 90 else byte
