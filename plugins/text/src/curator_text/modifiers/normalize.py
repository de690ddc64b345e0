"""Bring text into one form: Unicode composition, line ends, control characters, spaces, blank lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import ProcessingStage, TableBatch
from curator_text.modifiers.text_column import rewrite_matching, with_text

if TYPE_CHECKING:
    import polars as pl

    from curator_core.sdk import Columns

__all__ = ["NOT_SURELY_NFC", "Normalize"]

SILENT_CONTROLS = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
"""Control characters (Unicode Cc) that are not whitespace, so that removing them never joins two words."""
UNIT_SEPARATOR = "\x1f"
"""The one control character that is whitespace and does not end a line."""
CONTROLS = f"{SILENT_CONTROLS}|{UNIT_SEPARATOR}"

LINE_ENDS = r"\r\n|[\r\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}]"
"""What ``str.splitlines`` takes for the end of a line, apart from the newline itself."""

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
class Normalize(ProcessingStage[TableBatch, TableBatch]):
    r"""Bring text into one form, without touching what it says; applying it twice changes nothing.

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
        text_field: Column with the text.
    """

    control_characters: bool = True
    newlines: bool = True
    nfc: bool = True
    spaces: bool = True
    trailing_space: bool = True
    blank_lines: bool = True
    text_field: str = "text"

    name = "text.normalize"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.text_field]

    def process(self, task: TableBatch) -> TableBatch:
        text = task.text(self.text_field)
        # Each step leaves nothing for the ones before it to do, which is what makes the whole idempotent.
        if self.control_characters and self.nfc:
            text = rewrite_matching(text, f"{CONTROLS}|{NOT_SURELY_NFC}", lambda rows: _compose(_remove_controls(rows)))
        elif self.control_characters:
            text = rewrite_matching(text, CONTROLS, _remove_controls)
        elif self.nfc:
            text = rewrite_matching(text, NOT_SURELY_NFC, _compose)
        if self.newlines:
            text = rewrite_matching(text, LINE_ENDS, lambda rows: rows.str.replace_all(LINE_ENDS, "\n"))
        if self.spaces:
            text = rewrite_matching(text, r"[ \t]{2}", lambda rows: rows.str.replace_all(r"[ \t]{2,}", " "))
        if self.trailing_space:
            text = rewrite_matching(text, r"[ \t]\n", lambda rows: rows.str.replace_all(r"[ \t]+\n", "\n"))
            text = text.str.strip_chars_end(" \t\n")
        if self.blank_lines:
            text = rewrite_matching(text, r"\n{3}", lambda rows: rows.str.replace_all(r"\n{3,}", "\n\n"))
        return with_text(task, self.text_field, text)


def _remove_controls(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(SILENT_CONTROLS, "").str.replace_all(UNIT_SEPARATOR, " ", literal=True)


def _compose(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFC")
