"""Decode characters of more than one byte, and find the white space among them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.compiling import inlined

__all__ = ["decode", "is_space", "size_of_space"]

_REPLACEMENT = 0xFFFD


@inlined
def decode(data, at):
    """Return the code point of two to four bytes at ``at``, and their number; no bytes lead out of a table."""
    lead = byte_at(data, at)
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | (byte_at(data, at + 1) & 0x3F), 2
    middle = ((byte_at(data, at + 1) & 0x3F) << 6) | (byte_at(data, at + 2) & 0x3F)
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | middle, 3
    point = ((lead & 0x07) << 18) | (middle << 6) | (byte_at(data, at + 3) & 0x3F)
    return (point if point < 0x110000 else _REPLACEMENT), 4


@inlined
def size_of_space(data, at):
    """Return the size in bytes of the white space that starts at ``at``, not in ASCII; zero where there is none.

    These are U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000 (:meth:`str.isspace`).
    """
    lead = byte_at(data, at)
    if lead == 0xC2:
        return 2 if byte_at(data, at + 1) == 0x85 or byte_at(data, at + 1) == 0xA0 else 0
    if lead < 0xE1 or lead > 0xE3:
        return 0
    second, third = byte_at(data, at + 1), byte_at(data, at + 2)
    if lead == 0xE2:
        if second == 0x80:
            return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
        return 3 if second == 0x81 and third == 0x9F else 0
    if lead == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    return 3 if second == 0x80 and third == 0x80 else 0


@inlined
def is_space(byte):
    """Tell whether a byte of ASCII is white space (:meth:`str.isspace`)."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31
