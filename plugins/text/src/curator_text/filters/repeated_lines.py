"""Drop documents with repeated lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.repeats import REPEATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["RepeatedLines"]


@dataclass
class RepeatedLines(RuleFilter):
    r"""Keep documents of which at least ``min_share`` of the lines are different ones.

    Lines are cut at newlines; blank ones do not count, and white space around a line makes it another one. This is NeMo
    Curator's ``RepeatedLinesFilter`` (whose threshold is called ``max_repeated_line_fraction``), after Gopher (Rae et
    al. 2021, table A1). A document without lines has share zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["spam\nspam\nspam\neggs", "ham\neggs"]})
    >>> RepeatedLines().process(batch).data["text"].to_pylist()
    ['ham\neggs']

    Args:
        min_share: Smallest share of different lines to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    min_share: float = 0.7

    name = "text.repeated_lines"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return share("distinct_lines", "lines", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("repeated_lines", REPEATS, self.score() < self.min_share)]
