"""How each kind of character is defined. Only the script that makes the table, and its test, run this.

The sets that are no property of Unicode are those of datatrove 0.10.1 (``utils/text.py``) and of spaCy 3.8
(``lang/char_classes.py``, ``lang/punctuation.py``, ``pipeline/sentencizer.pyx``), given here as ranges of code points.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from curator_text.kernels import characters as kinds
from curator_text.kernels.characters import CODE_POINTS, PAGE_BITS, CharacterTable

__all__ = ["kind_of", "make_character_table"]

_SURROGATES = range(0xD800, 0xE000)

_SYMBOLS = (
    "0-8 B-1F 21-2F 3A-40 5B-60 7B-9F AB B4 BB 2013-2014 2019 201C-201E 2026 2236 2501 25BA 3001-3002 3008-300D "
    "3010-3011 FF01 FF05 FF08-FF09 FF0C FF0E FF11 FF1A-FF1B FF1F FF5E"
)
_TERMINAL = (
    "21 2E 3F 589 61D-61F 6D4 700-702 7F9 837 839 83D-83E 964-965 104A-104B 1362 1367-1368 166E 1735-1736 17D4-17D6 "
    "17D9-17DA 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E 1C3B-1C3C 1C7E-1C7F 203C-203D 2047-2049 "
    "2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7 A876-A877 A8CE-A8CF A92F A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB "
    "FE52 FE56-FE57 FF01 FF0E FF1F FF61 10A56-10A57 10F55-10F59 10F86-10F89 11047-11048 110BE-110C1 11141-11143 "
    "111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9 1144B-1144C 115C2-115C3 115C9-115D7 11641-11642 "
    "1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C 11C41-11C42 11EF7-11EF8 11F43-11F44 16A6E-16A6F 16AF5 "
    "16B37-16B38 16B44 16E98 1BC9F 1DA88"
)
_TERMINAL_BUT_NO_SENTENCE_END = (
    "61D-61E 837 839 83D-83E 17D4-17D6 17D9-17DA 1B7D-1B7E 2E53-2E54 10F55-10F59 10F86-10F89 11944 11946 11EF7-11EF8 "
    "11F43-11F44 16E98"
)
_CASED = (
    "41-5A 61-7A C0-D6 D8-F6 F8-1BF 1C4-2AF 386 388-38A 38C 38E-38F 391-3A9 3AC-3AF 3B1-3C9 3CC-3CE 400-401 403-40A "
    "40C-40D 410-451 453-45A 45C-45D 490-491 496-497 4A2-4A3 4AE-4AF 4BA-4BB 4D8-4D9 4E8-4E9 1D00-1D25 1D6B-1D77 "
    "1D79-1D9A 1E00-1EFF 2C60-2C7B 2C7E-2C7F A722-A76F A771-A787 A78B-A78E A790-A7B9 A7FA AB30-AB5A AB60-AB64 "
    "FF21-FF3A FF41-FF5A"
)
"""Latin, and the letters of Greek, Russian, Tatar, Ukrainian and Macedonian."""
_UNCASED = (
    "591-5F4 620-64A 66E-6D5 6E5-6FF 750-77F 8A0-8BD 900-9FF B80-CFF D80-DFF 1100-137F 2E80-2FDF 2FF0-30FF 31C0-31EF "
    "3200-4DBF 4E00-9FFF AC00-D7AF F900-FAFF FB1D-FBB1 FBD3-FD3D FD50-FDC7 FDF0-FDFB FE30-FE4F FE70-FEFC 1EE00-1EEBB "
    "1F200-1F2FF 20000-2A6DF 2A700-2EBEF 2F800-2FA1F"
)
"""Whole blocks of scripts without case."""
_LOWER_BY_DECREE, _UPPER_BY_DECREE = "\u0294", "\u03a2"
_LATE_ICONS = (
    "166D 2B97 2BC9 2BFF 2E50-2E51 32FF FD40-FD4F FDCF FDFE-FDFF 1019C 11FD5-11FDC 11FE1-11FF1 1CF50-1CFC3 1D1E9-1D1EA "
    "1E14F 1ED2E 1F10D-1F10F 1F16C-1F16F 1F1AD 1F6D5-1F6D7 1F6DD-1F6DF 1F6FA-1F6FC 1F7E0-1F7EB 1F7F0 1F8B0-1F8B1 "
    "1F90C-1F90F 1F93F 1F971-1F972 1F977-1F979 1F97B 1F9A3-1F9AF 1F9BA-1F9BF 1F9C3-1F9CF 1FA00-1FA53 1FA70-1FBCA"
)
"""Symbols that came after spaCy's list was made: it does not split at them."""
_QUOTES = (
    "'\"\u201d\u201c`\u2018\u00b4\u2019\u201a,\u201e\u00bb\u00ab\u300c\u300d\u300e\u300f\uff08\uff09"
    "\u3014\u3015\u3010\u3011\u300a\u300b\u3008\u3009\u2329\u232a\u27e6\u27e7"
)
_MARKS = (
    "\u2026,:;!?\u00bf\u061f\u00a1()[]{}<>_#*&\u3002\uff1f\uff01\uff0c\u3001\uff1b\uff1a\uff5e\u00b7"
    "\u0964\u060c\u06d4\u061b\u066a"
)
_CURRENCY = "$\u00a3\u20ac\u00a5\u0e3f\ufdfc" + "".join(map(chr, range(0x20A0, 0x20C0)))
_DASHES = "\u2014\u2013"
_BEFORE_STOP = "0123456789%\u00b2-+|"


def kind_of(character: str) -> int:
    """Return the bits of one character by their definitions."""
    category = unicodedata.category(character)
    is_icon = category == "So" and ord(character) not in _points(_LATE_ICONS)
    is_edge = character in _MARKS or character in _QUOTES or character in _DASHES or is_icon
    is_currency = character in _CURRENCY
    is_cased, is_uncased = ord(character) in _points(_CASED), ord(character) in _points(_UNCASED)
    is_lower = is_uncased or (is_cased and category == "Ll") or character in _LOWER_BY_DECREE
    is_upper = is_uncased or (is_cased and category == "Lu") or character in _UPPER_BY_DECREE
    is_terminal = ord(character) in _points(_TERMINAL)
    held = {
        kinds.SPACE: character.isspace(),
        kinds.BREAK: len(f"a{character}b".splitlines()) > 1,
        kinds.ALPHA: character.isalpha(),
        kinds.ALNUM: character.isalnum(),
        kinds.UPPER: character.isupper(),
        kinds.DIGIT: character.isdecimal(),
        kinds.CONTENT: category[0] in "LMN",
        kinds.PUNCTUATION: category[0] == "P",
        kinds.SYMBOL: is_terminal or ord(character) in _points(_SYMBOLS),
        kinds.TERMINAL: is_terminal,
        kinds.SENTENCE_END: is_terminal and ord(character) not in _points(_TERMINAL_BUT_NO_SENTENCE_END),
        kinds.SPLIT_ALPHA: is_cased or is_uncased or is_upper,
        kinds.SPLIT_LOWER: is_lower,
        kinds.SPLIT_UPPER: is_upper,
        kinds.SPLIT_PREFIX: is_edge or is_currency or character in "\u00a7%=",
        kinds.SPLIT_SUFFIX: is_edge,
        kinds.SPLIT_INSIDE: is_icon or character == "\u2026",
        kinds.SPLIT_QUOTE: character in _QUOTES,
        kinds.SPLIT_BEFORE_STOP: is_lower or character in _BEFORE_STOP or character in _MARKS or character in _QUOTES,
        kinds.SPLIT_CURRENCY: is_currency,
        kinds.UPPER_LETTER: category == "Lu",
    }
    return sum(bit for bit, holds in held.items() if holds)


def make_character_table() -> CharacterTable:
    """Make the table with the Unicode of this Python."""
    points = [0 if point in _SURROGATES else kind_of(chr(point)) for point in range(CODE_POINTS)]
    pages = np.array(points, dtype=np.uint32).reshape(-1, 1 << PAGE_BITS)
    stored, numbers = np.unique(pages, axis=0, return_inverse=True)
    return CharacterTable(numbers.reshape(-1).astype(np.uint8), stored.reshape(-1))


@cache
def _points(ranges: str) -> frozenset[int]:
    ends = (each.partition("-") for each in ranges.split())
    return frozenset(point for first, _, last in ends for point in range(int(first, 16), int(last or first, 16) + 1))
