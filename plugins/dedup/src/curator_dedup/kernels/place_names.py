"""Names of documents by file and place in it, written as text without a Python object for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel

__all__ = ["place_names"]


@kernel
def place_names(files: Any, rows: Any, prefixes: Any, ends: Any) -> Any:
    """Return the bytes and the offsets of the names of some documents: the prefix of the file, then the place.

    Args:
        files: The number of each document's file.
        rows: Its place there, not negative.
        prefixes: Beginnings of names, the bytes of all files one after the other.
        ends: Where those of each file begin, and where the last end.
    """
    offsets = np.zeros(len(rows) + 1, np.int32)
    for index in range(len(rows)):
        file = files[index]
        offsets[index + 1] = offsets[index] + ends[file + 1] - ends[file] + _digits(rows[index])
    data = np.empty(offsets[len(rows)], np.uint8)
    for index in range(len(rows)):
        file, at = files[index], offsets[index]
        for byte in range(ends[file], ends[file + 1]):
            data[at] = prefixes[byte]
            at += 1
        rest = np.uint64(rows[index])
        for place in range(offsets[index + 1] - 1, at - 1, -1):
            data[place] = np.uint8(48) + np.uint8(rest % np.uint64(10))
            rest //= np.uint64(10)
    return data, offsets


@inlined
def _digits(number: Any) -> Any:
    count = 1
    while number >= 10:
        number //= 10
        count += 1
    return count
