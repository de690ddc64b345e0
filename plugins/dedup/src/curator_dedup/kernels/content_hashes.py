"""128-bit hashes of values, eight bytes at a time: equal for equal bytes, and for no others that anybody will meet.

Two independent 64-bit lanes of multiply-and-fold hashing. Fast, not cryptographic: somebody who wants two values to
share a hash can make them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel
from curator_dedup.kernels.mixing import mix64

__all__ = ["content_hashes"]

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_THIRD = np.uint64(0x165667B19E3779F9)
_FOURTH = np.uint64(0xD6E8FEB86659FD93)
_WORD = 8


@kernel
def content_hashes(words: Any, begins: Any, ends: Any, out: Any) -> None:
    """Write the two halves of each value's hash.

    Args:
        words: The bytes of all values as 64-bit numbers, lowest byte first, with at least one number behind the last.
        begins: Where each value begins, in bytes.
        ends: Where it ends.
        out: Values x 2.
    """
    for value in range(len(begins)):
        begin, end = begins[value], ends[value]
        length = end - begin
        first = np.uint64(length) * _FIRST
        second = np.uint64(length) ^ _SECOND
        word, shift = begin // _WORD, np.uint64(begin % _WORD * _WORD)
        whole = length // _WORD
        if shift == 0:
            for index in range(whole):
                taken = words[word + index]
                first = _fold(first ^ taken, _THIRD)
                second = _turn(second + taken * _FOURTH)
        else:
            back = np.uint64(64) - shift
            low = words[word]
            for index in range(whole):
                high = words[word + index + 1]
                taken = low >> shift | high << back
                low = high
                first = _fold(first ^ taken, _THIRD)
                second = _turn(second + taken * _FOURTH)
        rest = length - whole * _WORD
        if rest:
            at = begin + whole * _WORD
            word, shift = at // _WORD, np.uint64(at % _WORD * _WORD)
            taken = words[word] >> shift
            if shift:
                taken |= words[word + 1] << (np.uint64(64) - shift)
            taken &= (np.uint64(1) << np.uint64(rest * _WORD)) - np.uint64(1)
            first = _fold(first ^ taken, _THIRD)
            second = _turn(second + taken * _FOURTH)
        out[value, 0] = mix64(first ^ second >> np.uint64(17))
        out[value, 1] = mix64(second + _FIRST)


@inlined
def _fold(value: Any, factor: Any) -> Any:
    value = value * factor
    value ^= value >> np.uint64(32)
    return value * _FIRST


@inlined
def _turn(value: Any) -> Any:
    return (value << np.uint64(27) | value >> np.uint64(37)) * _SECOND + _THIRD
