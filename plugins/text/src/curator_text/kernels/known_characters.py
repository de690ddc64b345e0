"""Count the characters of a set in each document."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.code_points import decode, is_space, size_of_space
from curator_text.kernels.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["known_character_counts"]


@kernel
def known_character_counts(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    is_known: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> None:
    """Count all characters, and those of a set between the first and the last that is no white space.

    Args:
        data: UTF-8 bytes of the documents.
        offsets: Where they start and end.
        rows: Documents to count.
        is_known: For every code point, whether it is in the set.
        counts: Two rows, one column per document.
    """
    for number in range(rows.size):
        row = rows[number]
        i, end = offsets[row], offsets[row + 1]
        chars = known = pending = 0  # pending: white space of the set, which counts once something follows
        has_begun = False
        while i < end:
            point, width = np.int64(data[i]), 1
            blank = is_space(data[i])
            if point >= 0x80:
                blank = size_of_space(data, i) > 0
                point, width = decode(data, i)
            i += width
            chars += 1
            if blank:
                pending += has_begun and is_known[point]
            else:
                has_begun = True
                known += pending + is_known[point]
                pending = 0
        counts[0, row] = chars
        counts[1, row] = known
