"""Repair text that was decoded or escaped wrongly, with ftfy, where it can need it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from curator_text.modifiers.normalize import NOT_SURELY_NFC
from curator_text.modifiers.text_modifier import TextModifier, rewrite_lines, rewrite_matching

if TYPE_CHECKING:
    from collections.abc import Iterable

    import ftfy

__all__ = ["FixUnicode"]


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
        text_column: Column with the text.
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
        screen = _screen_for(config)

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


_NOTHING = r"[^\x00-\x{10ffff}]"
_NOT_ASCII = r"[^\x00-\x7f]"
_ENTITY = r"&#?[0-9A-Za-z]{1,24};"
_CONTROLS = r"[\x00-\x08\x0b\x0e-\x1f\x7f\x{206a}-\x{206f}\x{feff}\x{fff9}-\x{fffc}]"
_C1_CONTROLS = r"[\x{80}-\x{9f}]"
_LINE_BREAKS = r"[\r\x{85}\x{2028}\x{2029}]"
_CURLY_QUOTES = r"[\x{2bc}\x{2018}-\x{201f}]"


@lru_cache(maxsize=64)
def _screen_for(config: ftfy.TextFixerConfig) -> str:
    """Return a pattern in polars' syntax that matches every line that ftfy would change, and few others."""
    from ftfy import chardata
    from ftfy.badness import BADNESS_RE

    mojibake = _for_polars(BADNESS_RE.pattern) or r"[\x{80}-\x{10ffff}]"
    parts = {
        _ENTITY: config.unescape_html,
        mojibake: config.fix_encoding,
        _C1_CONTROLS: config.fix_encoding or config.fix_c1_controls,
        _any_of(chardata.LIGATURES): config.fix_latin_ligatures,
        _any_of(chardata.WIDTH_MAP): config.fix_character_width,
        _CURLY_QUOTES: config.uncurl_quotes,
        _LINE_BREAKS: config.fix_line_breaks,
        r"\x1b": config.remove_terminal_escapes,
        _CONTROLS: config.remove_control_chars,
        NOT_SURELY_NFC: config.normalization == "NFC",
        _NOT_ASCII: config.normalization not in (None, "NFC"),
    }
    return "|".join(f"(?:{part})" for part, is_wanted in parts.items() if is_wanted) or _NOTHING


def _any_of(points: Iterable[int]) -> str:
    return "[" + "".join(f"\\x{{{point:x}}}" for point in points) + "]"


def _for_polars(verbose: str) -> str | None:
    r"""Translate a verbose pattern of Python into the syntax of polars; None where that fails.

    The result may match more than the original, never less: ``\s`` and ``\w`` take in what Python takes in, and ``^``
    any line's start.

    >>> _for_polars("[a b] \\s # comment")
    '[a b][\\s\\x1c-\\x1f]'
    """
    translated = _without_layout(verbose)
    translated = translated.replace(r"\s", r"[\s\x1c-\x1f]").replace(r"\w", r"[\w\p{N}]").replace("^[", "(?m:^)[")
    try:
        pl.Series([""]).str.contains(translated)
    except pl.exceptions.ComputeError:
        return None
    return translated


def _without_layout(verbose: str) -> str:
    """Remove the spaces and comments of a verbose pattern; polars would also remove the spaces inside classes."""
    kept = []
    in_class = False
    for each in re.findall(r"\\.|#[^\n]*|.", verbose, flags=re.DOTALL):
        if in_class:
            in_class = each != "]"
            kept.append(f"\\{each}" if each in "[&~" else each)
        elif each == "[":
            in_class = True
            kept.append(each)
        elif not each.isspace() and not each.startswith("#"):
            kept.append(each)
    return "".join(kept)
