"""Look for a few phrases in all paragraphs, whatever their case.

The search stops at rare letters only: every phrase has one of ``k v m`` in it, and is compared from there to both
sides. Lower case is that of :meth:`str.lower`: beside A to Z, the Kelvin sign is a k.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.compiling import inlined, kernel
from curator_text.metrics.boilerplate_strings import PLACEHOLDER, STRINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["boilerplate_counts"]

_PHRASES = [each.encode() for each in (PLACEHOLDER, *STRINGS)]
_BYTES = np.frombuffer(b"".join(_PHRASES), dtype=np.uint8)
_ENDS = np.cumsum([len(each) for each in _PHRASES])
_STARTS = _ENDS - np.array([len(each) for each in _PHRASES])
_ANCHORS = _STARTS + np.array([min(each.find(letter) for letter in b"kvm" if letter in each) for each in _PHRASES])

_KELVIN = 0xAA
"""Last byte of the Kelvin sign, E2 84 AA."""
_IS_ANCHOR = np.zeros(256, dtype=np.bool_)
_IS_ANCHOR[[*b"kvmKVM\n", _KELVIN]] = True


@kernel
def boilerplate_counts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> None:
    """Count the paragraphs, those with a phrase, and the placeholders of every document.

    Args:
        data: UTF-8 bytes of the documents.
        offsets: Where they start and end.
        rows: Documents to look at.
        counts: Three rows, one column per document.
    """
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        paragraphs = 1
        found = placeholders = 0
        is_found = False
        i = begin
        while i < end:
            byte = byte_at(data, i)
            if _IS_ANCHOR[byte]:
                if byte == 10:
                    if i + 1 < end and byte_at(data, i + 1) == 10:
                        paragraphs += 1
                        found += is_found
                        is_found = False
                        i += 1
                elif i > begin and _may_be_anchor(byte, byte_at(data, i - 1)):
                    phrase = _phrase_at(data, begin, i, end)
                    placeholders += phrase == 0
                    is_found |= phrase > 0
            i += 1
        counts[0, row] = paragraphs
        counts[1, row] = found + is_found
        counts[2, row] = placeholders


@inlined
def _may_be_anchor(byte, before):
    """Tell whether two bytes can be the ``ok iv rm em`` of a phrase, or the last ones of a Kelvin sign."""
    letter, before = _lower(byte), _lower(before)
    if letter == 107:
        return before == 111
    if letter == 118:
        return before == 105
    if letter == 109:
        return before == 114 or before == 101
    return before == 0x84


@inlined
def _phrase_at(data: NDArray[np.uint8], begin: int, at: int, end: int) -> int:
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
def _is_phrase(data: NDArray[np.uint8], begin: int, at: int, after: int, end: int, phrase: int) -> bool:
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
def _lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte
