"""Drop source files that are data for the most part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Alpha"]


@dataclass
class Alpha(RuleFilter):
    """Keep files of which at least ``min_share`` of the characters are letters.

    Letters are those of every script (Unicode's Alphabetic property). This is NeMo Curator's ``AlphaFilter``, after
    StarCoder (Li et al. 2023, section 3.1): it finds tables and tensors in source code. An empty file has share zero;
    NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = [0.1, 0.7, 0.3, 0.25]", "def add(a, b): return a + b"]})
    >>> Alpha().process(batch).data["text"].to_pylist()
    ['def add(a, b): return a + b']

    Args:
        min_share: Smallest share of letters to keep a file, from 0 to 1.
        text_field: Column with the text.
    """

    min_share: float = 0.25

    name = "text.alpha"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return share("letter_chars", "chars", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_few_letters", SURFACE, self.score() < self.min_share)]
