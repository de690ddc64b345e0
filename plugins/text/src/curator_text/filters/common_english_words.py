"""Drop documents in which the commonest English words are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_positive
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CommonEnglishWords"]


@dataclass
class CommonEnglishWords(RuleFilter):
    """Keep documents with at least ``min_words`` of the words ``the be to of and that have with``.

    They count in lower case only, so that shouting is dropped too, and each as often as it occurs. This is NeMo
    Curator's ``CommonEnglishWordsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1); its score stops at
    ``min_words``, ours is the full count.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["buy cheap stuff now", "the end of it"]})
    >>> CommonEnglishWords().process(batch).data["text"].to_pylist()
    ['the end of it']

    Args:
        min_words: Fewest common words to keep a document.
        text_field: Column with the text.
    """

    min_words: int = 2

    name = "text.common_english_words"

    def __post_init__(self) -> None:
        check_positive(self.name, min_words=self.min_words)

    def score(self) -> pl.Expr:
        return pl.col("common_words")

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_few_common_words", SURFACE, self.score() < self.min_words)]
