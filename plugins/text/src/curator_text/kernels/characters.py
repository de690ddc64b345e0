"""The kind of each code point: a table that is packaged as data, so that all machines agree.

Python versions differ in their version of Unicode; results must not differ between the workers of one run. The table
was made with Python 3.11 (Unicode 14.0) by ``scripts/make_character_table.py`` from
:mod:`curator_text.kernels.character_kinds`.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ALNUM", "ALPHA", "BREAK", "CharacterTable", "character_table"]

SPACE = 1 << 0
"""Whitespace: ``str.isspace``."""
BREAK = 1 << 1
"""Ends a line: ``str.splitlines``."""
ALPHA = 1 << 2
"""A letter: ``str.isalpha``."""
ALNUM = 1 << 3
"""A letter or number: ``str.isalnum``."""
UPPER = 1 << 4
"""An upper-case letter: ``str.isupper``."""
DIGIT = 1 << 5
"""A decimal digit of any script: ``str.isdecimal``."""
CONTENT = 1 << 6
"""A letter, mark or number of any script (Unicode categories L, M, N)."""
PUNCTUATION = 1 << 7
"""Unicode category P."""
SYMBOL = 1 << 8
"""Punctuation of datatrove 0.10: a word of nothing else does not count for Gopher's rules."""
TERMINAL = 1 << 9
"""Line ends for FineWeb's rules: datatrove's terminal punctuation (Unicode's Sentence_Terminal)."""
SENTENCE_END = 1 << 10
"""Sentence ends for spaCy's sentencizer."""
SPLIT_ALPHA = 1 << 11
"""A letter for the rules by which spaCy splits words."""
SPLIT_LOWER = 1 << 12
"""A letter of lower case, or of a script without case, for those rules."""
SPLIT_UPPER = 1 << 13
"""A letter of upper case, or of a script without case, for those rules."""
SPLIT_PREFIX = 1 << 14
"""Is cut off the front of a word."""
SPLIT_SUFFIX = 1 << 15
"""Is cut off the end of a word."""
SPLIT_INSIDE = 1 << 16
"""Cuts a word in two wherever it stands."""
SPLIT_QUOTE = 1 << 17
"""A quotation mark or bracket, next to which a full stop inside a word is cut out."""
SPLIT_BEFORE_STOP = 1 << 18
"""After it, a full stop at the end of a word is cut off."""
SPLIT_CURRENCY = 1 << 19
"""A currency sign."""

UPPER_LETTER = 1 << 20
"""Unicode category Lu."""

PAGE_BITS = 8
CODE_POINTS = 0x110000
_FILE = Path(__file__).with_name("character_table.bin")


@dataclass(frozen=True)
class CharacterTable:
    """The kinds of all code points, in pages that are stored once however often they occur.

    Args:
        pages: Number of the page for each 256 code points.
        kinds: The bits of 256 code points for each page, one page after the other.
    """

    pages: NDArray[np.uint8]
    kinds: NDArray[np.uint32]

    def of(self, character: str) -> int:
        """Return the bits of one character.

        >>> character_table().of("é") & ALPHA > 0
        True
        """
        point = ord(character)
        page = int(self.pages[point >> PAGE_BITS])
        return int(self.kinds[(page << PAGE_BITS) | (point & ((1 << PAGE_BITS) - 1))])

    def with_kind(self, kind: int, characters: str) -> CharacterTable:
        """Return a table in which just these characters are of a kind.

        >>> character_table().with_kind(ALPHA, "+").of("a") & ALPHA
        0
        """
        pages, kinds = self.pages.copy(), [(self.kinds & np.uint32(~kind & 0xFFFF_FFFF)).reshape(-1, 1 << PAGE_BITS)]
        number = len(kinds[0])
        by_page: dict[int, list[int]] = {}
        for character in characters:
            by_page.setdefault(ord(character) >> PAGE_BITS, []).append(ord(character) & ((1 << PAGE_BITS) - 1))
        for page, points in by_page.items():
            changed = kinds[0][pages[page]].copy()
            changed[points] |= np.uint32(kind)
            kinds.append(changed[None])
            pages[page] = number
            number += 1
        return CharacterTable(pages, np.concatenate(kinds).reshape(-1))

    def to_bytes(self) -> bytes:
        """Return the table in the form in which it is packaged."""
        return zlib.compress(self.pages.tobytes() + self.kinds.astype("<u4").tobytes(), 9)


@cache
def character_table() -> CharacterTable:
    """Return the packaged table."""
    content = zlib.decompress(_FILE.read_bytes())
    num_pages = CODE_POINTS >> PAGE_BITS
    pages = np.frombuffer(content, dtype=np.uint8, count=num_pages)
    kinds = np.frombuffer(content, dtype="<u4", offset=num_pages).astype(np.uint32)
    kinds.flags.writeable = False
    return CharacterTable(pages, kinds)
