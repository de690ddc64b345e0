"""Decode single characters of UTF-8 and look up their kinds."""

from __future__ import annotations

from curator_text.kernels.compiling import inlined
from curator_text.kernels.vector import byte_at, uint32_at

__all__ = ["kind_at", "kind_before", "width_at"]


@inlined
def width_at(data, at):
    """Return the number of bytes of the character that starts at ``at``."""
    lead = byte_at(data, at)
    if lead < 0x80:
        return 1
    if lead < 0xE0:
        return 2
    return 3 if lead < 0xF0 else 4


@inlined
def point_at(data, at):
    """Return the code point of the character that starts at ``at``; no bytes lead out of the table."""
    lead = byte_at(data, at)
    if lead < 0x80:
        return lead
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | (byte_at(data, at + 1) & 0x3F)
    middle = ((byte_at(data, at + 1) & 0x3F) << 6) | (byte_at(data, at + 2) & 0x3F)
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | middle
    point = ((lead & 0x07) << 18) | (middle << 6) | (byte_at(data, at + 3) & 0x3F)
    return point if point < 0x110000 else 0xFFFD


@inlined
def kind_of_point(point, pages, kinds):
    """Return the bits of a code point (see :mod:`curator_text.kernels.characters`)."""
    return uint32_at(kinds, (byte_at(pages, point >> 8) << 8) | (point & 0xFF))


@inlined
def kind_at(data, at, pages, kinds):
    """Return the bits of the character that starts at ``at``."""
    return kind_of_point(point_at(data, at), pages, kinds)


@inlined
def start_before(data, first, at):
    """Return where the character before ``at`` starts, no earlier than ``first``."""
    at -= 1
    while at > first and (byte_at(data, at) & 0xC0) == 0x80:
        at -= 1
    return at


@inlined
def kind_before(data, first, at, pages, kinds):
    """Return the bits of the character before ``at``, which starts no earlier than ``first``; zero where none does."""
    if at <= first:
        return 0
    return kind_at(data, start_before(data, first, at), pages, kinds)
