"""Find bytes that are not UTF-8, and carry them through code that takes only UTF-8."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

__all__ = ["INVALID_MARK", "incomplete_tail", "is_utf8", "mark_invalid", "unmark_invalid"]

INVALID_MARK = "\ufdd0not utf-8:"
"""Begins the replacement of an invalid byte. U+FDD0 is reserved for use inside programs, never part of a text."""

_ESCAPED = re.compile("[\udc80-\udcff]")
_MARKED = re.compile(f"{INVALID_MARK}([0-9a-f]{{2}})\ufdd1".encode())


def is_utf8(data: bytes) -> bool:
    """Whether all of ``data`` is UTF-8; as fast as memory, where decoding in Python makes a string of it."""
    offsets = np.array([0, len(data)], dtype=np.int64)
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def incomplete_tail(data: bytes) -> int:
    r"""Return how many bytes at the end begin a character that continues after it.

    >>> incomplete_tail("é".encode()), incomplete_tail("é".encode()[:1]), incomplete_tail(b"a\x80")
    (0, 1, 0)
    """
    for size in range(1, min(3, len(data)) + 1):
        byte = data[-size]
        if byte >= 0xC0:  # noqa: PLR2004 - a first byte, whose leading ones count the bytes of the character
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2  # noqa: PLR2004 - the lead bytes of UTF-8
            return size if needed > size else 0
        if byte < 0x80:  # noqa: PLR2004 - a character of its own
            return 0
    return 0


def mark_invalid(data: bytes) -> bytes:
    r"""Replace bytes that are not UTF-8 by marks.

    >>> unmark_invalid(mark_invalid(b"a\xff\xfe"))
    b'a\xff\xfe'
    """
    text = data.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda found: f"{INVALID_MARK}{ord(found[0]) - 0xDC00:02x}\ufdd1", text).encode()


def unmark_invalid(data: bytes) -> bytes:
    """Undo :func:`mark_invalid`."""
    return _MARKED.sub(lambda found: bytes.fromhex(found[1].decode()), data)
