"""Keep a part of each document, between two positions or two strings."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from curator_core.sdk import ConfigError
from curator_text.modifiers.text_modifier import WHITESPACE, TextModifier

__all__ = ["Slice"]


@dataclass
class Slice(TextModifier):
    """Keep the text between ``left`` and ``right``; a document without them becomes empty.

    This is NeMo Curator's ``Slicer``. Positions are those of Python's ``text[left:right]``: characters (code points),
    from the end where negative.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Head. START the story END tail.", "no marks"]})
    >>> between = Slice(left="START", right="END", include_left=False, include_right=False)
    >>> between.process(batch).data["text"].to_pylist()
    ['the story', '']
    >>> Slice(left=2, right=-1).process(batch).data["text"].to_pylist()
    ['ad. START the story END tail', 'mark']

    Args:
        left: Where to begin: a position, or a string, of which the first occurrence counts.
        right: Where to end: a position, or a string, of which the last occurrence counts; None is the end.
        include_left: Keep the string ``left`` itself.
        include_right: Keep the string ``right`` itself.
        strip: Remove whitespace at both ends of the kept text.
        text_column: Column with the text.
    """

    left: int | str | None = 0
    right: int | str | None = None
    include_left: bool = True
    include_right: bool = True
    strip: bool = True

    name = "text.slice"

    def __post_init__(self) -> None:
        if "" in (self.left, self.right):
            raise ConfigError(
                f"{self.name}: left and right must not be empty strings",
                fix="give a position, or at least one character",
            )

    def rewrite(self, texts: pl.Series) -> pl.Series:
        frame = pl.DataFrame([texts.alias("text")])
        size = pl.col("text").str.len_chars().cast(pl.Int64)
        begin = self._begin(size)
        end = self._end(size)
        part = pl.col("text").str.slice(begin, pl.max_horizontal(end - begin, 0))
        part = pl.when(begin.is_not_null() & end.is_not_null()).then(part)
        kept = frame.select(pl.when(pl.col("text").is_not_null()).then(part.fill_null("")).alias(texts.name))
        return kept.to_series().str.strip_chars(WHITESPACE) if self.strip else kept.to_series()

    def _begin(self, size: pl.Expr) -> pl.Expr:
        if not isinstance(self.left, str):
            return _position(self.left or 0, size)
        halves = pl.col("text").str.splitn(self.left, 2).struct
        before = pl.when(halves.field("field_1").is_not_null()).then(halves.field("field_0").str.len_chars())
        begin = before.cast(pl.Int64)
        return begin if self.include_left else begin + len(self.left)

    def _end(self, size: pl.Expr) -> pl.Expr:
        if not isinstance(self.right, str):
            return size if self.right is None else _position(self.right, size)
        if _repeats_itself(self.right):
            end = pl.col("text").str.extract(f"(?s)^(.*){_literal(self.right)}", 1).str.len_chars().cast(pl.Int64)
        else:  # several times as fast, but finds the last one only where occurrences cannot overlap
            pieces = pl.col("text").str.split(self.right).list
            behind = pieces.last().str.len_chars().cast(pl.Int64) + len(self.right)
            end = pl.when(pieces.len() > 1).then(size - behind)
        return end + len(self.right) if self.include_right else end


def _position(index: int, size: pl.Expr) -> pl.Expr:
    """Return where an index of Python falls in a text."""
    return pl.min_horizontal(size, index) if index >= 0 else pl.max_horizontal(size + index, 0)


def _literal(text: str) -> str:
    return "".join(f"\\x{{{ord(each):x}}}" for each in text)


def _repeats_itself(text: str) -> bool:
    """Tell whether a text can overlap with itself.

    >>> _repeats_itself("aba"), _repeats_itself("abc")
    (True, False)
    """
    return any(text.endswith(text[:length]) for length in range(1, len(text)))
