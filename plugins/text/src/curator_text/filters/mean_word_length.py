"""Drop documents whose words are too short or too long on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import check_range
from curator_table import SpacedWords
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import share
from curator_text.metrics.surface import surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["MeanWordLength"]


@dataclass
class MeanWordLength(RuleFilter):
    """Keep documents whose mean word length, in characters, is between ``min_length`` and ``max_length``.

    The defaults are those of Gopher (Rae et al. 2021, appendix A.1.1) and NeMo Curator's ``MeanWordLengthFilter``.
    A document without words has mean length zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a b c d", "words of common length"]})
    >>> MeanWordLength().process(batch).data["text"].to_pylist()
    ['words of common length']

    Args:
        min_length: Shortest mean to keep a document.
        max_length: Longest mean to keep a document.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    min_length: float = 3.0
    max_length: float = 10.0
    words: SpacedWords = "whitespace"

    name = "text.mean_word_length"

    def __post_init__(self) -> None:
        check_range(self.name, min_length=self.min_length, max_length=self.max_length)

    def score(self) -> pl.Expr:
        return share("word_chars", "words", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        return [
            Rule("mean_word_too_short", surface(self.words), self.score() < self.min_length),
            Rule("mean_word_too_long", surface(self.words), self.score() > self.max_length),
        ]
