r"""Make text from anywhere safe to show: what would speak to a terminal, or mislead a reader, is shown as an escape."""

from __future__ import annotations

import re

__all__ = ["visible", "visible_line"]

# Unicode's control and format characters, lone surrogates (bytes of file names that are no UTF-8) and line separators:
# C0 and C1 controls, escape, delete; bidirectional marks, embeddings, overrides and isolates; characters of no width
# that hide text, tags among them. Without the joiners U+200C and U+200D, which many scripts are written with. Beside
# them, letters and signs that show nothing: the grapheme joiner, Hangul fillers, the empty Braille pattern,
# and variation selectors but for U+FE0E and U+FE0F, which choose between text and emoji.
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u180e"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    "\U000e0100-\U000e01ef]"
)


def visible(text: str) -> str:
    r"""Return text without control characters other than line breaks.

    >>> print(visible("\x1b[31mred\x1b[0m, \u202etxt.exe and\ttabs"))
    \x1b[31mred\x1b[0m, \u202etxt.exe and\ttabs
    """
    return _HIDDEN.sub(_escaped, text)


def visible_line(text: str) -> str:
    r"""Return text on one line, for names and values that stand among others.

    >>> print(visible_line("dropped\nerror: none"))
    dropped\nerror: none
    """
    return visible(text).replace("\n", "\\n")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")
