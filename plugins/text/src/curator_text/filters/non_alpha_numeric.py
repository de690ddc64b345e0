"""Drop documents made of symbols and spaces more than of letters and digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NonAlphaNumeric"]


@dataclass
class NonAlphaNumeric(RuleFilter):
    """Keep documents of which at most ``max_share`` of the characters are not alphanumeric.

    Alphanumeric are the letters, combining marks and numbers of every script, and the newline and ``? ! , .``; all
    else, spaces included, is not. Characters are code points. On ASCII text the share is that of NeMo Curator's
    ``NonAlphaNumericFilter``, whose default this is; that filter counts all other letters as symbols and so drops most
    languages: ``ascii_only`` does the same. An empty document has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["### --- ###", "Plain words."]})
    >>> NonAlphaNumeric().process(batch).data["text"].to_pylist()
    ['Plain words.']

    Args:
        max_share: Largest share to keep a document, from 0 to 1.
        ascii_only: Whether only letters and digits of ASCII are alphanumeric.
        text_field: Column with the text.
    """

    max_share: float = 0.25
    ascii_only: bool = False

    name = "text.non_alpha_numeric"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share(pl.col("chars") - pl.col(self._content), "chars", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_symbols", SURFACE, self.score() > self.max_share)]

    @property
    def _content(self) -> str:
        return "ascii_content_chars" if self.ascii_only else "content_chars"
