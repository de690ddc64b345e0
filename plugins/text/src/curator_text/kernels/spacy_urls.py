"""Recognise the addresses that spaCy's tokenizer keeps whole (``URL_PATTERN`` in ``lang/tokenizer_exceptions.py``)."""

from __future__ import annotations

from curator_text.kernels.characters import ALNUM, SPLIT_LOWER
from curator_text.kernels.compiling import inlined
from curator_text.kernels.utf8 import kind_at, point_at, width_at
from curator_text.kernels.vector import byte_at

__all__ = ["is_url"]

_DOT, _COLON, _SLASH, _AT = 0x2E, 0x3A, 0x2F, 0x40
_MAX_LABEL_CHARS = 64
_TOP_LEVEL = (2, 63)
_PORT = (2, 5)


@inlined
def _is_digit(byte):
    return byte >= 0x30 and byte <= 0x39


@inlined
def _is_label_character(point):
    is_ascii = (0x30 <= point <= 0x39) or (0x41 <= point <= 0x5A) or (0x61 <= point <= 0x7A)
    return is_ascii or (0xA1 <= point <= 0xFFFF)


@inlined
def _ends_well(data, at, end):
    """Return whether the text behind the host is a port, a path, both or empty."""
    if at < end and byte_at(data, at) == _COLON:
        digits = 0
        while at + 1 + digits < end and _is_digit(byte_at(data, at + 1 + digits)):
            digits += 1
        if digits < _PORT[0] or digits > _PORT[1]:
            return False
        at += 1 + digits
    return at == end or byte_at(data, at) in (_SLASH, 0x3F, 0x23)  # / ? #


@inlined
def _host_ends_well(data, at, end, tables):
    """Return whether a host name starts at ``at`` and all that follows fits."""
    label = 0  # characters of the label so far
    labels = 0
    is_lower = True
    last_fits = False
    while at < end:
        point = point_at(data, at)
        if point == _DOT:
            if label == 0 or label > _MAX_LABEL_CHARS or not last_fits:
                return False
            labels += 1
            label = 0
            is_lower = True
        else:
            fits = _is_label_character(point)
            is_inner = point in (0x5F, 0x2D)  # _ -
            is_letter = (kind_at(data, at, tables[0], tables[1]) & SPLIT_LOWER) != 0
            if not fits and not is_inner and not is_letter:
                break
            if not fits and label == 0 and not is_letter:
                return False
            is_lower = is_lower and is_letter
            last_fits = fits
            label += 1
        at += width_at(data, at)
    if labels == 0 or not is_lower or label < _TOP_LEVEL[0] or label > _TOP_LEVEL[1]:
        return False
    return _ends_well(data, at, end)


@inlined
def _is_public(parts):
    """Return whether four numbers are an address that is not private, local, reserved or that of a network."""
    a, b, c, d = parts
    if a in (0, 10, 127) or a > 223 or d in (0, 255):
        return False
    if (a == 169 and b == 254) or (a == 192 and b == 168) or (a == 172 and 16 <= b <= 31):
        return False
    return b <= 255 and c <= 255 and d < 255


@inlined
def _address_ends_well(data, at, end):
    """Return whether an IP address starts at ``at`` and all that follows fits."""
    a = b = c = value = 0
    dots = digits = 0
    while at < end:
        byte = byte_at(data, at)
        if _is_digit(byte):
            if digits == 3 or (digits == 1 and value == 0 and dots in (0, 3)):
                return False
            value = value * 10 + byte - 0x30
            digits += 1
        elif byte == _DOT and digits and dots < 3:
            if dots == 0:
                a = value
            elif dots == 1:
                b = value
            else:
                c = value
            value = digits = 0
            dots += 1
        else:
            break
        at += 1
    if dots != 3 or digits == 0:
        return False
    return _is_public((a, b, c, value)) and _ends_well(data, at, end)


@inlined
def _starts_host(data, at, end, tables):
    if at >= end:
        return False
    if _is_digit(byte_at(data, at)) and _address_ends_well(data, at, end):
        return True
    return _host_ends_well(data, at, end, tables)


@inlined
def is_url(data, start, end, tables):
    """Return whether a run of characters is an address: scheme and user are optional, a full stop is not."""
    dot = start
    while dot < end and byte_at(data, dot) != _DOT:
        dot += 1
    if dot == end:
        return False
    if _starts_host(data, start, end, tables):
        return True
    at = start
    characters = 0
    while at < end and (
        (kind_at(data, at, tables[0], tables[1]) & ALNUM) != 0 or byte_at(data, at) in (0x5F, 0x2B, 0x2D, _DOT)  # _ + -
    ):
        at += width_at(data, at)
        characters += 1
    if (
        characters > 1
        and at + 3 < end
        and byte_at(data, at) == _COLON
        and byte_at(data, at + 1) == _SLASH
        and byte_at(data, at + 2) == _SLASH
    ):
        if _starts_host(data, at + 3, end, tables):
            return True
    for user_end in range(start + 1, end):
        if byte_at(data, user_end) == _AT and _starts_host(data, user_end + 1, end, tables):
            return True
    return False
