"""Drop documents that are digits for a large part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Numbers"]


@dataclass
class Numbers(RuleFilter):
    """Keep documents of which at most ``max_share`` of the characters are digits.

    Digits are those of every script (Unicode category Nd). This is NeMo Curator's ``NumbersFilter``. An empty document
    has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["call 555 1234", "call me"]})
    >>> Numbers().process(batch).data["text"].to_pylist()
    ['call me']

    Args:
        max_share: Largest share of digits to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.15

    name = "text.numbers"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("digit_chars", "chars", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_digits", SURFACE, self.score() > self.max_share)]
