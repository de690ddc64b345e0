"""Ids of documents whose corpus has none of its own: file and place in it, joined by a colon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_dedup.cache_files import load_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_dedup.numbering import Numbering

__all__ = ["PlaceIds"]

_AT_ONCE = 1 << 18
"""Ids of one piece: with paths of up to eight thousand bytes, offsets of 32 bits are enough."""


class PlaceIds:
    """The ids of a corpus's documents by their numbers.

    Args:
        numbering: Of the corpus.
    """

    def __init__(self, numbering: Numbering) -> None:
        names = sorted(numbering.sources, key=lambda source: numbering.sources[source])
        self._begins = np.array([numbering.sources[source][0] for source in names], np.int64)
        self._rows = load_array(numbering.rows)
        prefixes = [f"{source}:".encode() for source in names]
        self._prefixes = np.frombuffer(b"".join(prefixes), np.uint8)
        self._ends = np.concatenate([[0], np.cumsum([len(each) for each in prefixes])]).astype(np.int64)

    def of(self, numbers: NDArray[np.int64]) -> pa.ChunkedArray:
        """Return the ids of documents, in the order of their numbers as they are given."""
        pieces = [self._piece(numbers[begin : begin + _AT_ONCE]) for begin in range(0, len(numbers), _AT_ONCE)]
        return pa.chunked_array(pieces, pa.string())

    def _piece(self, numbers: NDArray[np.int64]) -> pa.Array:
        from curator_dedup.kernels.place_names import place_names

        if len(self._begins) == 1:
            files = np.zeros(len(numbers), np.int64)
        else:
            files = np.searchsorted(self._begins, numbers, side="right") - 1
        data, offsets = place_names(files, self._rows[numbers], self._prefixes, self._ends)
        return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(data))
