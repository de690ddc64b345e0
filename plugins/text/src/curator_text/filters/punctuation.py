"""Drop documents in which few lines end like a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Punctuation"]


@dataclass
class Punctuation(RuleFilter):
    r"""Keep documents of which at most ``max_share`` of the lines have no end mark.

    End marks are ``. ? ! " '`` (C4, Raffel et al. 2020, section 2.2). Blank lines do not count, and white space at the
    end of a line is skipped. This is NeMo Curator's ``PunctuationFilter``. A document without lines has share one; NeMo
    Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Home\nAbout us", "A sentence.\nMenu"]})
    >>> Punctuation().process(batch).data["text"].to_pylist()
    ['A sentence.\nMenu']

    Args:
        max_share: Largest share of lines without an end mark to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.85

    name = "text.punctuation"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share(pl.col("lines") - pl.col("ended_lines"), "lines", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_few_end_marks", SURFACE, self.score() > self.max_share)]
