"""Drop documents with repeated paragraphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.repeats import REPEATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["RepeatedParagraphs"]


@dataclass
class RepeatedParagraphs(RuleFilter):
    r"""Keep documents of which at least ``min_share`` of the paragraphs are different ones.

    Paragraphs are cut at two newlines; blank ones count. This is NeMo Curator's ``RepeatedParagraphsFilter`` (whose
    threshold is called ``max_repeated_paragraphs_ratio``), after Gopher (Rae et al. 2021, table A1).

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["spam\n\nspam\n\nspam", "ham\n\neggs"]})
    >>> RepeatedParagraphs().process(batch).data["text"].to_pylist()
    ['ham\n\neggs']

    Args:
        min_share: Smallest share of different paragraphs to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    min_share: float = 0.7

    name = "text.repeated_paragraphs"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return share("distinct_paragraphs", "paragraphs", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("repeated_paragraphs", REPEATS, self.score() < self.min_share)]
