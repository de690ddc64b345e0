"""Find the records in a block of JSON lines, with numpy rather than line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LineIndex", "index_lines", "newlines"]

_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
_JSON_SPACE = b" \t\r"
_SAMPLE_BYTES = 2**16
_LONG_LINE_BYTES = 500


@dataclass(frozen=True, slots=True)
class LineIndex:
    """Where the records of a block are: one per line that is not blank.

    Args:
        starts: First byte of each record's line.
        ends: First byte after it, without the newline.
        all_objects: Whether every record starts with ``{`` and ends with ``}``. Then no JSON object can span two
            lines, because only a separator, never ``}`` and ``{``, can stand around a line break inside an object.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    all_objects: bool

    def __len__(self) -> int:
        return len(self.starts)


def index_lines(block: bytes) -> LineIndex:
    r"""Find the records of a block.

    >>> index_lines(b'{"a": 1}\n\n{"a": 2}\r\n').starts.tolist()
    [0, 10]
    """
    data = np.frombuffer(block, dtype=np.uint8)
    ends = newlines(block)
    if not len(data) or data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    if not len(starts):
        return LineIndex(starts, ends, all_objects=True)
    last = data[ends - 1]
    # A carriage return before the newline; where the line is nothing else, ends - 2 may be the line before.
    last = np.where(last == _RETURN, data[np.maximum(ends - 2, 0)], last)
    odd = np.flatnonzero((data[starts] != _OPEN) | (last != _CLOSE) | (ends - starts == 1))
    return _examine(block, starts, ends, odd)


def newlines(block: bytes) -> NDArray[np.int64]:
    r"""Return where the newlines of a block are.

    >>> newlines(b"a\n\nb").tolist()
    [1, 2]
    """
    if block.count(b"\n", 0, _SAMPLE_BYTES) > _SAMPLE_BYTES // _LONG_LINE_BYTES:
        return np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE)
    positions = []  # with long lines, jumping from one to the next beats a pass over every byte
    position = block.find(b"\n")
    while position >= 0:
        positions.append(position)
        position = block.find(b"\n", position + 1)
    return np.array(positions, dtype=np.int64)


def _examine(block: bytes, starts: Any, ends: Any, odd: NDArray[np.int64]) -> LineIndex:
    """Look closely at the few lines that do not plainly hold one object."""
    keep = np.ones(len(starts), dtype=bool)
    all_objects = True
    for index in odd.tolist():
        text = block[starts[index] : ends[index]].strip(_JSON_SPACE)
        keep[index] = bool(text)
        all_objects &= not text or (text.startswith(b"{") and text.endswith(b"}"))
    return LineIndex(starts[keep], ends[keep], all_objects) if len(odd) else LineIndex(starts, ends, all_objects=True)
