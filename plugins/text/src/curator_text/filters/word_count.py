"""Drop documents with too few or too many words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import check_range
from curator_table import SpacedWords
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.metrics.surface import surface

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WordCount"]


@dataclass
class WordCount(RuleFilter):
    """Keep documents of ``min_words`` to ``max_words`` words; an empty document has none.

    The defaults are those of Gopher (Rae et al. 2021, appendix A.1.1) and NeMo Curator's ``WordCountFilter``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["too short", "long enough to be kept"]})
    >>> WordCount(min_words=3).process(batch).data["text"].to_pylist()
    ['long enough to be kept']

    Args:
        min_words: Fewest words to keep a document.
        max_words: Most words to keep a document.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    min_words: int = 50
    max_words: int = 100_000
    words: SpacedWords = "whitespace"

    name = "text.word_count"

    def __post_init__(self) -> None:
        check_range(self.name, min_words=self.min_words, max_words=self.max_words)

    def score(self) -> pl.Expr:
        return pl.col("words")

    def rules(self) -> Sequence[Rule]:
        return [
            Rule("too_few_words", surface(self.words), self.score() < self.min_words),
            Rule("too_many_words", surface(self.words), self.score() > self.max_words),
        ]
