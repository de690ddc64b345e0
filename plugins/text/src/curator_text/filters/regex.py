"""Keep or drop documents by how often a regular expression is found in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.patterns import check_pattern

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Regex"]


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
        text_field: Column to search.
    """

    pattern: str
    action: Literal["drop", "keep"] = "drop"
    min_matches: int = 1
    text_field: str = "text"

    name = "text.regex"

    def __post_init__(self) -> None:
        check_pattern(self.name, self.pattern)
        if self.min_matches < 1:
            raise ConfigError(f"{self.name}: min_matches must be at least 1, got {self.min_matches}")

    def judge(self, batch: TableBatch) -> Verdict:
        texts = batch.text(self.text_field)
        if self.min_matches == 1:  # to search is several times as fast as to count
            count = texts.str.contains(self.pattern).cast(pl.Int64)
        else:
            count = texts.str.count_matches(self.pattern).cast(pl.Int64)
        if self.action == "drop":
            return Verdict(count, {"matched": count >= self.min_matches})
        return Verdict(count, {"not_matched": count < self.min_matches})
