"""Drop documents with many words that hold no letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_table import SpacedWords
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["WordsWithoutAlphabets"]


@dataclass
class WordsWithoutAlphabets(RuleFilter):
    """Keep documents of which at least ``min_share`` of the words hold a letter.

    Letters are those of every script (Unicode's Alphabetic property). This is NeMo Curator's
    ``WordsWithoutAlphabetsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1). A document without words has
    share zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["1 + 1 = two", "one plus one"]})
    >>> WordsWithoutAlphabets().process(batch).data["text"].to_pylist()
    ['one plus one']

    Args:
        min_share: Smallest share of words with a letter to keep a document, from 0 to 1.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    min_share: float = 0.8
    words: SpacedWords = "whitespace"

    name = "text.words_without_alphabets"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)

    def score(self) -> pl.Expr:
        return share("lettered_words", "words", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_few_words_with_letters", surface(self.words), self.score() < self.min_share)]
