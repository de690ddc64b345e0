"""Drop documents that are white space for a large part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["WhiteSpace"]


@dataclass
class WhiteSpace(RuleFilter):
    """Keep documents of which at most ``max_share`` of the characters are white space.

    White space is space, tab, newline, carriage return and backspace, as in NeMo Curator's ``WhiteSpaceFilter``; that
    at the ends of a document counts. An empty document has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a  b  c", "some words"]})
    >>> WhiteSpace().process(batch).data["text"].to_pylist()
    ['some words']

    Args:
        max_share: Largest share of white space to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.25

    name = "text.white_space"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("blank_chars", "chars", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_much_white_space", SURFACE, self.score() > self.max_share)]
