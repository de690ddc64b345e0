"""Recognise common words, ellipses, end marks and addresses in a text."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; ``data`` is the address of the bytes.
from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined
from curator_text.kernels.vector import byte_at

__all__ = ["address_end", "has_ellipsis", "has_end_mark", "is_common_word", "is_ellipsis"]


def _key(word: str) -> np.uint64:
    """Return the bytes of a short word as one number, as :func:`curator_text.kernels.vector.load_8` reads them."""
    return np.uint64(int.from_bytes(word.encode(), "little"))


# The words that NeMo Curator's CommonEnglishWordsFilter looks for.
_THE, _AND = _key("the"), _key("and")
_BE, _TO, _OF = _key("be"), _key("to"), _key("of")
_THAT, _HAVE, _WITH = _key("that"), _key("have"), _key("with")
# The ellipses that its SymbolsToWordsFilter counts as symbols, by their size in bytes: three and five.
_DOTS, _ELLIPSIS, _DASH_QUOTE = _key("..."), _key("…"), _key("-»")
_SQUARE_DOTS, _ROUND_DOTS, _SQUARE_ELLIPSIS = _key("[...]"), _key("(...)"), _key("[…]")
_READ_MORE = np.frombuffer(b"read more", dtype=np.uint8)


@inlined
def is_common_word(key, size):
    """Tell whether a word, given by its bytes as one number and their count, is one of the eight."""
    if size == 3:
        return key == _THE or key == _AND
    if size == 2:
        return key == _TO or key == _OF or key == _BE
    return size == 4 and (key == _THAT or key == _WITH or key == _HAVE)


@inlined
def is_ellipsis(key, size):
    """Tell whether a word, given likewise, is an ellipsis."""
    if size == 3:
        return key == _DOTS or key == _ELLIPSIS or key == _DASH_QUOTE
    return size == 5 and (key == _SQUARE_DOTS or key == _ROUND_DOTS or key == _SQUARE_ELLIPSIS)


@inlined
def has_end_mark(data, end):
    """Tell whether the text that ends before ``end`` has one of the five marks of C4 (Raffel et al. 2020) last."""
    last = byte_at(data, end - 1)
    return last == 46 or last == 63 or last == 33 or last == 34 or last == 39  # . ? ! " '


@inlined
def has_ellipsis(data, begin, end):
    """Tell whether a line that ends before ``end`` has one of NeMo Curator's ellipses last."""
    last = byte_at(data, end - 1)
    size = end - begin
    if last == 46:  # .
        if size < 3 or byte_at(data, end - 2) != 46:
            return False
        return byte_at(data, end - 3) == 46 or _has_read_more(data, begin, end - 2)
    if last == 93 or last == 41:  # ] )
        if size < 5:
            return False
        key = np.uint64(0)
        for i in range(5):
            key |= np.uint64(byte_at(data, end - 5 + i)) << np.uint64(8 * i)
        return is_ellipsis(key, 5)
    if last == 0xA6:
        return size >= 3 and byte_at(data, end - 3) == 0xE2 and byte_at(data, end - 2) == 0x80
    if last == 0xBB:
        return size >= 3 and byte_at(data, end - 3) == 45 and byte_at(data, end - 2) == 0xC2
    return (last == 101 or last == 69) and _has_read_more(data, begin, end)  # e E


@inlined
def _has_read_more(data, begin, end):
    start = end - _READ_MORE.size
    if start < begin:
        return False
    for i in range(_READ_MORE.size):
        byte = byte_at(data, start + i)
        if 65 <= byte <= 90:
            byte += 32
        if byte != _READ_MORE[i]:
            return False
    return True


@inlined
def address_end(data, start, end, url_bytes):
    """Return where the address that starts at an ``h`` ends; ``start`` itself where there is none.

    Args:
        data: The bytes.
        start: Where the ``h`` is.
        end: Where the document ends, at least eight bytes behind it.
        url_bytes: For each byte, whether an address consists of it, but for the per cent sign.
    """
    if byte_at(data, start + 1) != 116 or byte_at(data, start + 2) != 116 or byte_at(data, start + 3) != 112:  # ttp
        return start
    i = start + 4
    if byte_at(data, i) == 115:  # s
        i += 1
    if i + 3 >= end or byte_at(data, i) != 58 or byte_at(data, i + 1) != 47 or byte_at(data, i + 2) != 47:  # ://
        return start
    i += 3
    first = i
    while i < end:
        byte = byte_at(data, i)
        if byte_at(url_bytes, byte):
            i += 1
        elif byte == 37 and i + 2 < end and _is_hex(byte_at(data, i + 1)) and _is_hex(byte_at(data, i + 2)):
            i += 3
        else:
            break
    return start if i == first else i


@inlined
def _is_hex(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 70 or 97 <= byte <= 102
