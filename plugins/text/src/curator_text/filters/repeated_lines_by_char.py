"""Drop documents of which repeated lines make up a large part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.repeats import REPEATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["RepeatedLinesByChar"]


@dataclass
class RepeatedLinesByChar(RuleFilter):
    r"""Keep documents of which at least ``min_share`` of the characters are left without repeated lines.

    Lines are cut at newlines; blank ones do not count, and white space around a line makes it another one. Newlines
    between them are not counted. This is NeMo Curator's ``RepeatedLinesByCharFilter``, after Gopher (Rae et al. 2021,
    table A1). A document without characters in lines has share zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a long line\na long line", "ham\neggs"]})
    >>> RepeatedLinesByChar().process(batch).data["text"].to_pylist()
    ['ham\neggs']

    Args:
        min_share: Smallest share of characters in different lines to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    min_share: float = 0.8

    name = "text.repeated_lines_by_char"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return share("chars_in_distinct_lines", "chars_in_lines", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("repeated_lines_by_char", REPEATS, self.score() < self.min_share)]
