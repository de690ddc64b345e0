"""Drop documents of which n-grams that occurred before make up a large part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_table import SpacedWords
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_positive, check_share
from curator_text.metrics.nemo_ngrams import nemo_ngrams

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RepeatingDuplicateNGrams"]

PUBLISHED_SHARES = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.1}
"""Gopher, Rae et al. 2021, table A1."""
OTHER_SHARE = 0.2
"""NeMo Curator's default for all n."""


@dataclass
class RepeatingDuplicateNGrams(RuleFilter):
    """Keep documents of which at most ``max_share`` of the characters are in n-grams that occurred before.

    An n-gram is ``n`` words in a row. Words that belong to several such n-grams count once, and so do the spaces
    between them. This is NeMo Curator's ``RepeatingDuplicateNGramsFilter``, after Gopher (Rae et al. 2021, table A1). A
    document with less than ``n`` words has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["one and two and " * 9, "a cup of hot tea in the morning, one at noon"]})
    >>> RepeatingDuplicateNGrams().process(batch).data["text"].to_pylist()
    ['a cup of hot tea in the morning, one at noon']

    Args:
        n: Words in an n-gram.
        max_share: Largest share to keep a document, from 0 to 1; by default that of Gopher for n of 5 to 10, else 0.2.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    n: int = 2
    max_share: float | None = None
    words: SpacedWords = "whitespace"

    name = "text.repeating_duplicate_n_grams"

    def __post_init__(self) -> None:
        check_positive(self.name, n=self.n)
        if self.max_share is not None:
            check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return pl.col(f"repeated_{self.n}")

    def rules(self) -> Sequence[Rule]:
        limit = PUBLISHED_SHARES.get(self.n, OTHER_SHARE) if self.max_share is None else self.max_share
        return [Rule(f"duplicate_{self.n}_grams", nemo_ngrams(repeated=self.n, words=self.words), self.score() > limit)]
