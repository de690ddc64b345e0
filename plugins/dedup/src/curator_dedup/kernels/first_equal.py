"""Which value each value is equal to first, by their hashes."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import kernel

__all__ = ["first_equal"]

_PART_VALUES = 8192
"""A part of this many values, and the table that finds equal ones among them, stay in a core's cache."""


@kernel
def first_equal(hashes: Any, places: Any, firsts: Any) -> None:
    """Find the first place with the same hash for each of some places.

    Values are sorted into parts by the upper bits of their hash, so that a part's table fits in the cache.

    Args:
        hashes: Two halves of a hash for each value.
        places: Which of them to look at, in order.
        firsts: Where the answers go: one for each value; for those not looked at, it is left alone.
    """
    count = len(places)
    bits = np.uint64(0)
    while (count >> np.int64(bits)) > _PART_VALUES:
        bits += np.uint64(1)
    parts = 1 << np.int64(bits)
    begins = np.zeros(parts + 1, np.int64)
    for index in range(count):
        part = np.int64(hashes[places[index], 0] >> (np.uint64(64) - bits)) if parts > 1 else 0
        begins[part + 1] += 1
    largest = 0
    for part in range(parts):
        largest = max(largest, begins[part + 1])
        begins[part + 1] += begins[part]
    ends = begins[:-1].copy()
    upper = np.empty(count, np.uint64)
    lower = np.empty(count, np.uint64)
    owners = np.empty(count, np.int64)
    for index in range(count):
        place = places[index]
        part = np.int64(hashes[place, 0] >> (np.uint64(64) - bits)) if parts > 1 else 0
        position = ends[part]
        ends[part] = position + 1
        upper[position] = hashes[place, 0]
        lower[position] = hashes[place, 1]
        owners[position] = place
    slots = 2
    while slots < 2 * largest:
        slots *= 2
    table = np.empty(slots, np.int64)
    mask = np.uint64(slots - 1)
    for part in range(parts):
        table[:] = -1
        for position in range(begins[part], begins[part + 1]):
            slot = np.int64(lower[position] & mask)
            while True:
                other = table[slot]
                if other < 0:
                    table[slot] = position
                    firsts[owners[position]] = owners[position]
                    break
                if upper[other] == upper[position] and lower[other] == lower[position]:
                    firsts[owners[position]] = owners[other]
                    break
                slot = (slot + 1) & np.int64(mask)
