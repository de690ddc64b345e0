"""Count lines, letters and characters of source files."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.code_points import decode
from curator_text.kernels.compiling import kernel
from curator_text.kernels.surface_tables import ALPHA

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["code_line_counts"]


@kernel
def code_line_counts(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    is_content: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> None:
    """Fill one column of ``counts`` for every file: see :mod:`curator_text.metrics.code`.

    Args:
        data: UTF-8 bytes of the files.
        offsets: Where they start and end.
        rows: Files to count.
        kinds: For every code point, whether it is a letter.
        is_content: For every byte, whether it is alphanumeric.
        counts: Five rows, one column per file.
    """
    for number in range(rows.size):
        row = rows[number]
        i, end = offsets[row], offsets[row + 1]
        chars = lines = longest = letters = content = 0
        line = 0
        while i < end:
            point, width = np.int64(data[i]), 1
            if point >= 0x80:
                point, width = decode(data, i)
            else:
                content += is_content[point]
            i += width
            chars += 1
            if point == 10:
                longest = max(longest, line)
                lines += 1
                line = 0
            else:
                line += 1
                letters += (kinds[point] & ALPHA) != 0
        counts[0, row] = chars
        counts[1, row] = lines + 1
        counts[2, row] = max(longest, line)
        counts[3, row] = letters
        counts[4, row] = content
