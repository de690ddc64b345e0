"""Which text ftfy can change at all, as one regular expression that is searched over a whole column."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from curator_text.modifiers.normalize import NOT_SURELY_NFC

if TYPE_CHECKING:
    from collections.abc import Iterable

    import ftfy

__all__ = ["screen_for"]

_NOTHING = r"[^\x00-\x{10ffff}]"
_NOT_ASCII = r"[^\x00-\x7f]"
_ENTITY = r"&#?[0-9A-Za-z]{1,24};"
_CONTROLS = r"[\x00-\x08\x0b\x0e-\x1f\x7f\x{206a}-\x{206f}\x{feff}\x{fff9}-\x{fffc}]"
_C1_CONTROLS = r"[\x{80}-\x{9f}]"
_LINE_BREAKS = r"[\r\x{85}\x{2028}\x{2029}]"
_CURLY_QUOTES = r"[\x{2bc}\x{2018}-\x{201f}]"


@lru_cache(maxsize=64)
def screen_for(config: ftfy.TextFixerConfig) -> str:
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
    import polars as pl

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
