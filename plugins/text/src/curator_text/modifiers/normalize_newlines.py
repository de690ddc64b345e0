"""Shorten runs of newlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError
from curator_text.modifiers.normalize import LINE_ENDS
from curator_text.modifiers.text_column import rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NormalizeNewlines"]


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
        text_field: Column with the text.
    """

    max_newlines: int = 2
    unify: bool = False

    name = "text.normalize_newlines"

    def __post_init__(self) -> None:
        if self.max_newlines < 1:
            raise ConfigError(f"{self.name}: max_newlines must be at least 1, got {self.max_newlines}")

    def rewrite(self, texts: pl.Series) -> pl.Series:
        if self.unify:
            texts = rewrite_matching(texts, LINE_ENDS, lambda rows: rows.str.replace_all(LINE_ENDS, "\n"))
        for end, shown in (("\n", r"\n"), ("\r\n", r"(?:\r\n)")):
            run = f"{shown}{{{self.max_newlines + 1},}}"
            short = end * self.max_newlines
            texts = rewrite_matching(texts, run, lambda rows, run=run, short=short: rows.str.replace_all(run, short))  # type: ignore[misc]
        return texts
