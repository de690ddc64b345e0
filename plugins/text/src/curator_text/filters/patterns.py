"""Keep or drop documents that hold a string, or in which a regular expression is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.checks import check_pattern, check_positive

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Regex", "Substring"]


@dataclass
class Regex(Filter):
    r"""Drop, or keep, the documents in which a regular expression is found.

    For conditions on several columns, or on numbers, ``table.where`` takes an expression.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["buy now! buy now!", "buy now!", "a story"]})
    >>> Regex("(?i)buy now", min_matches=2).process(batch).data["text"].to_pylist()
    ['buy now!', 'a story']

    Args:
        pattern: The expression, in the syntax of Rust's ``regex``: no look-around, no back-references; flags such as
            ``(?i)`` in front.
        action: ``drop`` the documents in which it is found, or ``keep`` only those.
        min_matches: How often it has to be found; matches do not overlap.
        text_column: Column to search.
    """

    pattern: str
    action: Literal["drop", "keep"] = "drop"
    min_matches: int = 1
    text_column: str = "text"

    name = "text.regex"

    def __post_init__(self) -> None:
        check_pattern(self.name, self.pattern)
        check_positive(self.name, min_matches=self.min_matches)

    def judge(self, batch: TableBatch) -> Verdict:
        texts = batch.text(self.text_column)
        if self.min_matches == 1:  # to search is several times as fast as to count
            count = texts.str.contains(self.pattern).cast(pl.Int64)
        else:
            count = texts.str.count_matches(self.pattern).cast(pl.Int64)
        if self.action == "drop":
            return Verdict(count, {"matched": count >= self.min_matches})
        return Verdict(count, {"not_matched": count < self.min_matches})


@dataclass
class Substring(Filter):
    """Keep documents that hold a string at their beginning, at their end or anywhere; ``invert`` drops those.

    This is NeMo Curator's ``SubstringFilter``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Chapter 1", "In chapter 1"]})
    >>> Substring("Chapter", position="prefix").process(batch).data["text"].to_pylist()
    ['Chapter 1']

    Args:
        substring: The string, taken as it is.
        position: Where it has to be.
        text_column: Column with the text.
    """

    substring: str
    position: Literal["prefix", "suffix", "any"] = "any"
    text_column: str = "text"

    name = "text.substring"

    def __post_init__(self) -> None:
        if not self.substring:
            raise ConfigError(f"{self.name}: substring must not be empty", fix="give at least one character")

    def judge(self, batch: TableBatch) -> Verdict:
        text = batch.text(self.text_column).str
        if self.position == "prefix":
            found = text.starts_with(self.substring)
        elif self.position == "suffix":
            found = text.ends_with(self.substring)
        else:
            found = text.contains(self.substring, literal=True)
        return Verdict(found.cast(pl.Int64), {"no_substring": ~found})
