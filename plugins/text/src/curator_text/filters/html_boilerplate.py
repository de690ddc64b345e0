"""Drop HTML pages that are markup and scripts for the most part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from curator_text.code.html_text import text_share
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share
from curator_text.metrics.per_document import per_document

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HtmlBoilerplate"]


@dataclass
class HtmlBoilerplate(RuleFilter):
    """Keep pages of which at least ``min_share`` of the characters are text, with at least ``min_chars`` of it.

    The text is all that stands outside of tags, comments, scripts and styles, with runs of white space between tags as
    one character. A page with less than ``min_chars`` characters of text has share zero, and so has one that Python's
    HTML parser refuses. This is NeMo Curator's ``HTMLBoilerplateFilter``, after StarCoder (Li et al. 2023, section
    3.1), which raises on an empty page and on one that the parser refuses.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["<p>" + "text " * 30 + "</p>", "<p>" + "<br><hr>" * 30 + "</p>"]})
    >>> len(HtmlBoilerplate().process(batch).data)
    1

    Args:
        min_share: Smallest share of text to keep a page, from 0 to 1.
        min_chars: Fewest characters of text to keep a page.
        text_field: Column with the HTML source.
    """

    min_share: float = 0.2
    min_chars: int = 100

    name = "text.html_boilerplate"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return pl.col("score")

    def rules(self) -> Sequence[Rule]:
        shares = per_document(f"html_text {self.min_chars}", partial(text_share, min_chars=self.min_chars))
        return [Rule("too_little_text", shares, self.score() < self.min_share)]
