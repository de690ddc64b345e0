"""Integer mixing: turns the sums of a rolling hash into evenly spread numbers. All arithmetic wraps at 2^64."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined

__all__ = ["BASE", "mix64", "seeds64"]

BASE = 0x9E3779B97F4A7C15
"""Base of the polynomial hashes: odd, so that it has an inverse modulo 2^64. The golden ratio in 64 bits."""
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)


@inlined
def mix64(value: Any) -> Any:
    """Return a number whose bits all depend on all bits of ``value`` (the last step of MurmurHash3 in 64 bits)."""
    value = np.uint64(value)
    value ^= value >> _SHIFT
    value *= _FIRST
    value ^= value >> _SHIFT
    value *= _SECOND
    value ^= value >> _SHIFT
    return value


def seeds64(seed: int, count: int, purpose: str) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return numbers that depend only on the seed and on their purpose; odd, so that they can be multipliers."""
    digits = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF, *purpose.encode()]
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(digits)))
    numbers: np.ndarray[Any, np.dtype[np.uint64]] = generator.integers(0, 2**64, size=count, dtype=np.uint64)
    numbers |= np.uint64(1)
    return numbers
