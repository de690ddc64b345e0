"""Repair text that was decoded or escaped wrongly, with ftfy, where it can need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from curator_text.modifiers.ftfy_screen import screen_for
from curator_text.modifiers.text_column import rewrite_lines, rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

__all__ = ["FixUnicode"]

if TYPE_CHECKING:
    import ftfy


@dataclass
class FixUnicode(TextModifier):
    """Repair mojibake, HTML entities, terminal escapes and stray control characters, with ftfy.

    This is NeMo Curator's ``UnicodeReformatter``, with its defaults, and the texts that come out are ftfy's. ftfy works
    line by line in Python, so a search over the whole column first finds the lines that it can change at all; the rest,
    nearly all of clean text, is never touched.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["schÃ¶n &amp; gut", "schön und gut"]})
    >>> FixUnicode().process(batch).data["text"].to_pylist()
    ['schön & gut', 'schön und gut']

    Args:
        unescape_html: Replace HTML entities; ``auto`` does so up to the first line with a ``<``, which may be HTML.
        fix_encoding: Undo decoding with a wrong encoding (mojibake).
        fix_c1_controls: Read the control characters U+0080 to U+009F as Windows-1252.
        fix_latin_ligatures: Write ligatures such as ``ﬁ`` as letters.
        fix_character_width: Write fullwidth Latin and halfwidth Katakana in their usual width.
        uncurl_quotes: Write curly quotation marks straight.
        fix_line_breaks: Turn every kind of line end into a newline.
        remove_terminal_escapes: Remove ANSI escape sequences, such as colours.
        remove_control_chars: Remove control characters without effect, and byte order marks.
        normalization: Unicode normalisation form to apply; None for none.
        text_field: Column with the text.
    """

    unescape_html: Literal["auto"] | bool = "auto"
    fix_encoding: bool = True
    fix_c1_controls: bool = True
    fix_latin_ligatures: bool = False
    fix_character_width: bool = False
    uncurl_quotes: bool = False
    fix_line_breaks: bool = False
    remove_terminal_escapes: bool = True
    remove_control_chars: bool = True
    normalization: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None

    name = "text.fix_unicode"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        config = self._config()
        screen = screen_for(config)

        def fix(rows: pl.Series) -> pl.Series:
            return rewrite_lines(rows, screen, lambda lines, affected: _fix_lines(lines, affected, config))

        return rewrite_matching(texts, screen, fix)

    def _config(self) -> ftfy.TextFixerConfig:
        import ftfy

        options: dict[str, Any] = {
            name: getattr(self, name) for name in ftfy.TextFixerConfig._fields if hasattr(self, name)
        }
        return ftfy.TextFixerConfig(**options, explain=False)


def _fix_lines(lines: pl.DataFrame, affected: pl.Series, config: ftfy.TextFixerConfig) -> pl.Series:
    """Fix lines with their newlines, as ftfy itself takes them, one by one."""
    is_markup = pl.lit(value=False)
    if config.unescape_html == "auto":
        is_markup = pl.col("line").str.contains("<", literal=True).cum_max().over("row")
    suspects = lines.select("line", is_markup.alias("markup")).filter(affected)
    return pl.Series([_fix(line, config, markup=markup) for line, markup in suspects.rows()], dtype=pl.String)


def _fix(line: str, config: ftfy.TextFixerConfig, *, markup: bool) -> str:
    """Fix a line; ftfy leaves entities from the first line with a bracket on, for the rest of the document."""
    import ftfy

    return ftfy.fix_text(line, config._replace(unescape_html=False) if markup else config)
