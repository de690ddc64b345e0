"""The role of each character in n-grams of words: part of a word, in lower case, a break, or ignored."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["character_table", "normal_words"]

_BREAK, _DROPPED, _LONE = 0, 1, 1 << 31
_POINTS = 0x20000
"""Characters beyond these two planes are rare ideographs and tags, and stand for themselves."""
_SCRIPTS_WITHOUT_SPACES = (
    (0x0E01, 0x0E2F),  # Thai consonants; vowels and marks belong to the word before them
    (0x0E81, 0x0EAF),  # Lao
    (0x1000, 0x1021),  # Burmese
    (0x1780, 0x17A3),  # Khmer
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
)


@cache
def character_table() -> NDArray[np.uint32]:
    """Return the role of each code point in the kernels: see :func:`normal_words`."""
    return np.fromiter((_kind(chr(point)) for point in range(_POINTS)), np.uint32, _POINTS)


def _kind(character: str) -> int:
    point = ord(character)
    if character.isspace():
        return _BREAK
    if not (character.isalnum() or unicodedata.category(character).startswith("M")):
        return _DROPPED
    lower = character.lower()
    folded = ord(lower) if len(lower) == 1 else point
    if any(first <= point <= last for first, last in _SCRIPTS_WITHOUT_SPACES):
        return folded | _LONE
    return max(_DROPPED, folded)


def normal_words(text: str) -> list[str]:
    """Return the words of a text as n-grams are made of them: lower case, without punctuation and symbols.

    In scripts that put no spaces between words, each character is a word.

    >>> normal_words("Don't  panic \u2013 it's 日本!")
    ['dont', 'panic', 'its', '日', '本']
    """
    table = character_table()
    words: list[str] = []
    word = ""
    for character in text:
        kind = int(table[ord(character)]) if ord(character) < _POINTS else ord(character)
        if kind == _DROPPED:
            continue
        if word and (kind == _BREAK or kind & _LONE):
            words.append(word)
            word = ""
        if kind & _LONE:
            words.append(chr(kind & ~_LONE))
        elif kind != _BREAK:
            word += chr(kind)
    return [*words, word] if word else words
