"""Characters that carry content: letters, marks and digits of every script, and the marks of plain prose."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from curator_text.utf8 import character_starts, measure

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from curator_text.utf8 import Utf8Block

__all__ = ["PROSE_MARKS", "is_content", "non_content_shares"]

PROSE_MARKS = "\n?!,."
"""Characters that NeMo Curator's non-alphanumeric filter counts beside the letters and digits of ASCII."""

_CONTENT_CATEGORIES = "LMN"
"""Letters, marks and numbers. Marks belong here: they are the vowels of Hindi, Thai and other scripts."""

_UNICODE_POINTS = 0x110000
_ASCII_POINTS = 0x80
_MULTI_BYTE = ((0xC0, 0x1F, 2), (0xE0, 0x0F, 3), (0xF0, 0x07, 4))
"""For characters of two, three and four bytes: smallest lead byte, its payload bits, number of bytes."""


def is_content(character: str) -> bool:
    """Tell whether one character is a letter, a mark, a number (Unicode L, M, N) or one of :data:`PROSE_MARKS`.

    >>> is_content("é"), is_content("9"), is_content("#"), is_content(" ")
    (True, True, False, False)
    """
    return character in PROSE_MARKS or unicodedata.category(character)[0] in _CONTENT_CATEGORIES


_ASCII_CONTENT = bytes(is_content(chr(byte)) if byte < _ASCII_POINTS else 0 for byte in range(256))


def non_content_shares(texts: pl.Series) -> pl.Series:
    """Return the share of each document's characters that are not content; one for an empty document.

    >>> import polars as pl
    >>> non_content_shares(pl.Series(["ab##", "abc", ""])).to_list()
    [0.5, 0.0, 1.0]
    """
    return measure(texts, _non_content_shares)


def _non_content_shares(block: Utf8Block) -> NDArray[np.float64]:
    content = block.count(_content_mask(block.data))
    characters = block.count(character_starts(block.data))
    return np.where(characters == 0, 1.0, 1.0 - content / np.maximum(characters, 1))


def _content_mask(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    # bytes.translate is a table look-up at 1.2 GB/s, four times numpy's indexing; a bytearray stays writable.
    mask = np.frombuffer(bytearray(data).translate(_ASCII_CONTENT), dtype=np.bool_)
    if data.size == 0 or data.max() < _ASCII_POINTS:
        return mask
    leads = np.flatnonzero(data >= _MULTI_BYTE[0][0])
    first = data[leads]
    for smallest, payload, width in _MULTI_BYTE:
        at = leads[(first >= smallest) & (first <= smallest + payload)]
        point = (data[at] & payload).astype(np.uint32)
        for step in range(1, width):
            point = (point << np.uint32(6)) | (data[at + step] & np.uint8(0x3F))
        mask[at] = _content_table()[point]
    return mask


@cache
def _content_table() -> NDArray[np.bool_]:
    return np.fromiter((is_content(chr(point)) for point in range(_UNICODE_POINTS)), np.bool_, _UNICODE_POINTS)
