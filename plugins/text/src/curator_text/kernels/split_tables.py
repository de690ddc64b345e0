"""Tables that splitting words looks things up in, as arrays for kernels."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.kernels.characters import character_table
from curator_text.kernels.english_exceptions import english_exceptions
from curator_text.kernels.read_only import read_only
from curator_text.kernels.spacy_splits import EXCEPTIONS_SIZE, MAY_BE_JOINED, SIEVE_SIZE, UNITS_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["UNITS", "hash_table", "hash_text", "split_tables"]

_WORD = (1 << 64) - 1
_MARKS = re.compile("^['\u2019]|['\u2019][sS]?$|[^'\u2019A-Za-z0-9]")
"""Characters of exceptions that the rules would cut."""
UNITS = (
    "km km\u00b2 km\u00b3 m m\u00b2 m\u00b3 dm dm\u00b2 dm\u00b3 cm cm\u00b2 cm\u00b3 mm mm\u00b2 mm\u00b3 ha "
    "\u00b5m nm yd in ft kg g mg \u00b5g t lb oz m/s km/h kmh mph hPa Pa mbar mb MB kb KB gb GB tb TB T G M K % "
    "\u043a\u043c \u043a\u043c\u00b2 \u043a\u043c\u00b3 \u043c \u043c\u00b2 \u043c\u00b3 \u0434\u043c "
    "\u0434\u043c\u00b2 \u0434\u043c\u00b3 \u0441\u043c \u0441\u043c\u00b2 \u0441\u043c\u00b3 \u043c\u043c "
    "\u043c\u043c\u00b2 \u043c\u043c\u00b3 \u043d\u043c \u043a\u0433 \u0433 \u043c\u0433 \u043c/\u0441 "
    "\u043a\u043c/\u0447 \u043a\u041f\u0430 \u041f\u0430 \u043c\u0431\u0430\u0440 \u041a\u0431 \u041a\u0411 "
    "\u043a\u0431 \u041c\u0431 \u041c\u0411 \u043c\u0431 \u0413\u0431 \u0413\u0411 \u0433\u0431 \u0422\u0431 "
    "\u0422\u0411"
)
"""Units of measurement that are cut off numbers (spaCy 3.8, ``lang/char_classes.py``, without the Arabic ones)."""


def hash_text(text: str) -> int:
    """Return the hash that :func:`curator_text.kernels.hashing.hash_bytes` gives the bytes of a text.

    >>> hash_text("the") != hash_text("The")
    True
    """
    content = text.encode()
    value = 0x9E3779B97F4A7C15 * (len(content) + 1) & _WORD
    pieces = [int.from_bytes(content[at : at + 8], "little") for at in range(0, len(content), 8)] or [0]
    for piece in pieces[:-1]:
        value = (value ^ piece) * 0xFF51AFD7ED558CCD & _WORD
        value ^= value >> 32
    value = (value ^ pieces[-1]) * 0xFF51AFD7ED558CCD & _WORD
    value ^= value >> 32
    value = value * 0xC4CEB9FE1A85EC53 & _WORD
    return value ^ (value >> 29)


def hash_table(texts: Iterable[str], size: int) -> tuple[NDArray[np.uint64], dict[str, int]]:
    """Return a table of the hashes of some texts, zero where it is free, and the place of each text.

    Args:
        texts: The texts; fewer than ``size``.
        size: Entries of the table, a power of two.
    """
    keys = np.zeros(size, dtype=np.uint64)
    places: dict[str, int] = {}
    for text in texts:
        place = hash_text(text) & (size - 1)
        while keys[place]:
            place = (place + 1) & (size - 1)
        keys[place] = hash_text(text)
        places[text] = place
    return keys, places


@cache
def split_tables() -> tuple[NDArray[Any], ...]:
    """Return kinds of characters (pages and kinds), exceptions (sieve, keys and lengths of pieces) and units."""
    table = character_table()
    exceptions = english_exceptions()
    keys, places = hash_table(exceptions, EXCEPTIONS_SIZE)
    pieces = np.zeros(keys.size, dtype=np.uint32)
    sieve = np.zeros(SIEVE_SIZE, dtype=np.uint8)
    for text, parts in exceptions.items():
        pieces[places[text]] = sum(len(part.encode()) << (8 * at) for at, part in enumerate(parts))
        if _MARKS.search(text):
            pieces[places[text]] |= MAY_BE_JOINED
        sieve[hash_text(text) & (SIEVE_SIZE - 1)] = 1
    units, _ = hash_table(dict.fromkeys(UNITS.split()), UNITS_SIZE)
    arrays = (table.pages, table.kinds, sieve, keys, pieces, units)
    return tuple(read_only(each) for each in arrays)
