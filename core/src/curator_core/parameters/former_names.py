"""Former names of parameters: errors suggest the new name, and a run that has the former one can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["name_today"]

_LAST_WORDS = {"field": "column", "fields": "columns", "share": "fraction"}
"""Words at the end of names that were replaced in all parameters."""
_NAMES = {
    "fields": "reference_columns",
    "max_bullet_lines": "max_bullet_line_fraction",
    "max_ellipsis_lines": "max_ellipsis_line_fraction",
    "max_repeated_chars": "max_repeated_char_fraction",
    "max_repeated_line_chars": "max_repeated_line_char_fraction",
    "max_repeated_lines": "max_repeated_line_fraction",
    "max_repeated_paragraph_chars": "max_repeated_paragraph_char_fraction",
    "max_repeated_paragraphs": "max_repeated_paragraph_fraction",
    "max_short_lines": "max_short_line_fraction",
    "min_alpha_words": "min_alpha_word_fraction",
    "min_ended_lines": "min_ended_line_fraction",
    "min_share": "min_speech_fraction",
    "repeated_ngrams": "max_repeated_ngram_fraction",
    "top_ngrams": "max_top_ngram_fraction",
}
"""Parameters whose names changed otherwise."""


def name_today(name: str, known: Collection[str]) -> str:
    """Return the name that a parameter has today, or the same name if no known parameter has replaced it.

    >>> [name_today(name, ["max_fraction", "text_column", "share"]) for name in ("max_share", "text_field", "share")]
    ['max_fraction', 'text_column', 'share']
    """
    if name in known:
        return name
    first, underscore, last = name.rpartition("_")
    candidates = (f"{first}{underscore}{_LAST_WORDS.get(last, last)}", _NAMES.get(name, name))
    return next((each for each in candidates if each in known), name)
