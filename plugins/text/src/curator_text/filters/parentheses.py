"""Drop documents with many brackets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Parentheses"]


@dataclass
class Parentheses(RuleFilter):
    """Keep documents of which at most ``max_share`` of the characters are brackets.

    Brackets are ``( ) { } [ ] ⟨ ⟩``, as in NeMo Curator's ``ParenthesesFilter``: what stands between them does not
    count. An empty document has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["f(g(x))", "f of g of x"]})
    >>> Parentheses().process(batch).data["text"].to_pylist()
    ['f of g of x']

    Args:
        max_share: Largest share of brackets to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.1

    name = "text.parentheses"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("bracket_chars", "chars", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_parentheses", SURFACE, self.score() > self.max_share)]
