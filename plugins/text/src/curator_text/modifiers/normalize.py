"""Bring text into one form: Unicode composition, line ends, control characters, spaces, blank lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_text.checks import check_positive
from curator_text.modifiers.text_modifier import WHITESPACE, TextModifier, replace_all, rewrite_matching

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NOT_SURELY_NFC", "Normalize", "NormalizeNewlines", "NormalizeWhitespace"]

SILENT_CONTROLS = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
"""Control characters (Unicode Cc) that are not whitespace, so that removing them never joins two words."""
UNIT_SEPARATOR = "\x1f"
"""The one control character that is whitespace and does not end a line."""
CONTROLS = f"{SILENT_CONTROLS}|{UNIT_SEPARATOR}"

LINE_ENDS = r"\r\n|[\r\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}]"
"""Line ends of ``str.splitlines``, apart from the newline itself."""

NOT_SURELY_NFC = (
    r"[\p{M}\p{Cn}"  # combining marks; and what later versions of Unicode may assign
    r"\x{1100}-\x{11ff}\x{16d40}-\x{16d7f}"  # Hangul jamo and Kirat Rai vowels, which compose with their neighbours
    # Letters and signs with another canonical form:
    r"\x{374}\x{37e}\x{387}\x{958}-\x{95f}\x{9dc}-\x{9df}\x{a33}-\x{a5e}\x{b5c}\x{b5d}\x{f43}-\x{f69}"
    r"\x{1f71}-\x{1fff}\x{2000}\x{2001}\x{2126}\x{212a}\x{212b}\x{2329}\x{232a}\x{2adc}"
    r"\x{f900}-\x{faff}\x{fb1d}-\x{fb4f}\x{1d15e}-\x{1d1c0}\x{2f800}-\x{2fa1f}]"
)
"""A character class: text without any of it is in Unicode's form C already, so the slow normaliser can skip it."""


@dataclass
class Normalize(TextModifier):
    r"""Normalise text without changing its meaning; applying it twice changes nothing.

    The words (``str.split()``) stay the same, except that control characters inside them vanish and letters are
    composed. Nulls stay null.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Cafe\u0301  au\x00 lait \r\n\r\n\r\n\r\nfin\n"]})
    >>> Normalize().process(batch).data["text"].to_pylist()
    ['Café au lait\n\nfin']

    Args:
        control_characters: Remove control characters other than whitespace; the unit separator becomes a space.
        newlines: Turn every kind of line end (CR LF, CR, form feed, U+2028, …) into a newline.
        nfc: Compose letters and accents (Unicode normalisation form C).
        spaces: Turn runs of spaces and tabs into one space; a single tab stays.
        trailing_space: Remove spaces and tabs at the end of lines, and newlines at the end of the document.
        blank_lines: Turn three or more newlines in a row into two.
        text_column: Column with the text.
    """

    control_characters: bool = True
    newlines: bool = True
    nfc: bool = True
    spaces: bool = True
    trailing_space: bool = True
    blank_lines: bool = True

    name = "text.normalize"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        # No step creates work for the ones before it, so the whole is idempotent.
        if self.control_characters and self.nfc:
            texts = rewrite_matching(
                texts, f"{CONTROLS}|{NOT_SURELY_NFC}", lambda rows: _compose(_remove_controls(rows))
            )
        elif self.control_characters:
            texts = rewrite_matching(texts, CONTROLS, _remove_controls)
        elif self.nfc:
            texts = rewrite_matching(texts, NOT_SURELY_NFC, _compose)
        if self.newlines:
            texts = replace_all(texts, LINE_ENDS, "\n")
        if self.spaces:
            texts = rewrite_matching(texts, r"[ \t]{2}", lambda rows: rows.str.replace_all(r"[ \t]{2,}", " "))
        if self.trailing_space:
            texts = rewrite_matching(texts, r"[ \t]\n", lambda rows: rows.str.replace_all(r"[ \t]+\n", "\n"))
            texts = texts.str.strip_chars_end(" \t\n")
        if self.blank_lines:
            texts = rewrite_matching(texts, r"\n{3}", lambda rows: rows.str.replace_all(r"\n{3,}", "\n\n"))
        return texts


def _remove_controls(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(SILENT_CONTROLS, "").str.replace_all(UNIT_SEPARATOR, " ", literal=True)


def _compose(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFC")


@dataclass
class NormalizeNewlines(TextModifier):
    r"""Turn three or more newlines in a row into two, ``\n`` and ``\r\n`` alike; applying it twice changes nothing.

    With default parameters this is NeMo Curator's ``NewlineNormalizer``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["one\n\n\n\ntwo", "one\r\n\r\n\r\ntwo"]})
    >>> NormalizeNewlines().process(batch).data["text"].to_pylist()
    ['one\n\ntwo', 'one\r\n\r\ntwo']

    Args:
        max_newlines: Longest run to leave.
        unify: First turn every kind of line end (CR LF, CR, form feed, U+2028, …) into a newline.
        text_column: Column with the text.
    """

    max_newlines: int = 2
    unify: bool = False

    name = "text.normalize_newlines"

    def __post_init__(self) -> None:
        check_positive(self.name, max_newlines=self.max_newlines)

    def rewrite(self, texts: pl.Series) -> pl.Series:
        if self.unify:
            texts = replace_all(texts, LINE_ENDS, "\n")
        for end, shown in (("\n", r"\n"), ("\r\n", r"(?:\r\n)")):
            run = f"{shown}{{{self.max_newlines + 1},}}"
            short = end * self.max_newlines
            texts = replace_all(texts, run, short)
        return texts


_OTHER_SPACES = r"\t\x1f\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}"
"""Inside a character class: the whitespace of ``str.isspace`` that does not end a line, but for the space itself."""
_LINE_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}"
_ZERO_WIDTH = r"[\x{200b}\x{2060}\x{feff}]"
"""Zero width space, word joiner, byte order mark; not the joiners, which Persian, Hindi and emoji need."""


@dataclass
class NormalizeWhitespace(TextModifier):
    r"""Turn every run of spaces of any kind into one space; applying it twice changes nothing.

    Tabs, no-break and ideographic spaces are spaces. Spaces beside a line end and at either end of the document go.
    The words (``str.split()``) stay the same, unless ``zero_width`` joins some.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["  one\u00a0\u00a0two \n\tthree\n"]})
    >>> NormalizeWhitespace().process(batch).data["text"].to_pylist()
    ['one two\nthree']
    >>> NormalizeWhitespace(newlines="space").process(batch).data["text"].to_pylist()
    ['one two three']

    Args:
        newlines: ``keep`` line ends as they are, or turn them into a ``space`` like other whitespace.
        strip: Remove whitespace at both ends of the document.
        zero_width: Remove zero width spaces, word joiners and byte order marks.
        text_column: Column with the text.
    """

    newlines: Literal["keep", "space"] = "keep"
    strip: bool = True
    zero_width: bool = False

    name = "text.normalize_whitespace"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        if self.zero_width:
            texts = replace_all(texts, _ZERO_WIDTH, "")
        # Plain spaces are left out of the first search, and single ones of the second: most text has nothing else.
        other = f"[{_OTHER_SPACES}]" if self.newlines == "keep" else f"[{_OTHER_SPACES}{_LINE_ENDS}]"
        texts = replace_all(texts, other, " ")
        texts = rewrite_matching(texts, "  ", lambda rows: rows.str.replace_all(" {2,}", " "))
        if self.newlines == "keep":
            ends = f"[{_LINE_ENDS}]"
            beside = f" {ends}|{ends} "
            texts = rewrite_matching(texts, beside, lambda rows: rows.str.replace_all(f" ?({ends}+) ?", "$1"))
        return texts.str.strip_chars(WHITESPACE) if self.strip else texts
