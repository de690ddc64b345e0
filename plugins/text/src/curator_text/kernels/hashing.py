"""Hash runs of bytes, eight at a time, to 64 bits.

Equal hashes are taken for equal bytes. Among the words or lines of one document (a million of them, say) the chance
that any two differ and collide is about one in 37 million.
"""

from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined
from curator_text.kernels.vector import load_8

__all__ = ["hash_bytes", "hash_pair", "slot_of"]

_SEED = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xFF51AFD7ED558CCD)
_LAST = np.uint64(0xC4CEB9FE1A85EC53)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@inlined
def hash_bytes(data, start, end):
    """Return the hash of the bytes from ``start`` to ``end``; up to seven bytes behind them are read."""
    length = end - start
    value = _SEED * np.uint64(length + 1)
    while end - start > 8:
        value = (value ^ load_8(data, start)) * _STEP
        value ^= value >> np.uint64(32)
        start += 8
    if end > start:
        value ^= load_8(data, start) & (_ALL >> np.uint64(64 - 8 * (end - start)))
    value *= _STEP
    value ^= value >> np.uint64(32)
    value *= _LAST
    return value ^ (value >> np.uint64(29))


@inlined
def hash_pair(first, second):
    """Return a hash of two hashes or numbers, in their order."""
    value = (first * _STEP) ^ ((second * _LAST) + (first >> np.uint64(31)))
    return value ^ (value >> np.uint64(32))


@inlined
def slot_of(value, bits):
    """Return the place of a hash in a table of ``2 ** bits`` places."""
    return np.int64((value * _SEED) >> np.uint64(64 - bits))
