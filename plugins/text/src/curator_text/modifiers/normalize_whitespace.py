"""Turn every kind and run of whitespace into single spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_text.modifiers.text_column import WHITESPACE, rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NormalizeWhitespace"]

_OTHER_SPACES = r"\t\x1f\x{a0}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}"
"""Inside a character class: the whitespace of ``str.isspace`` that does not end a line, but for the space itself."""
_LINE_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}"
_ZERO_WIDTH = r"[\x{200b}\x{2060}\x{feff}]"
"""Zero width space, word joiner, byte order mark; not the joiners, which Persian, Hindi and emoji need."""


@dataclass
class NormalizeWhitespace(TextModifier):
    r"""Turn every run of spaces, of whatever kind, into one space; applying it twice changes nothing.

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
        text_field: Column with the text.
    """

    newlines: Literal["keep", "space"] = "keep"
    strip: bool = True
    zero_width: bool = False

    name = "text.normalize_whitespace"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        if self.zero_width:
            texts = rewrite_matching(texts, _ZERO_WIDTH, lambda rows: rows.str.replace_all(_ZERO_WIDTH, ""))
        # Plain spaces are left out of the first search, and single ones of the second: most text has nothing else.
        other = f"[{_OTHER_SPACES}]" if self.newlines == "keep" else f"[{_OTHER_SPACES}{_LINE_ENDS}]"
        texts = rewrite_matching(texts, other, lambda rows: rows.str.replace_all(other, " "))
        texts = rewrite_matching(texts, "  ", lambda rows: rows.str.replace_all(" {2,}", " "))
        if self.newlines == "keep":
            ends = f"[{_LINE_ENDS}]"
            beside = f" {ends}|{ends} "
            texts = rewrite_matching(texts, beside, lambda rows: rows.str.replace_all(f" ?({ends}+) ?", "$1"))
        return texts.str.strip_chars(WHITESPACE) if self.strip else texts
