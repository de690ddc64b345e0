"""Drop documents with a word too long to be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_table import SpacedWords
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_positive
from curator_text.metrics.surface import surface

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LongWord"]


@dataclass
class LongWord(RuleFilter):
    """Keep documents whose longest word has at most ``max_length`` characters.

    This is NeMo Curator's ``LongWordFilter``, after C4's code: it finds minified scripts and encoded data. The
    longest word of a document without words has length zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["data:" + "x" * 1000, "short words"]})
    >>> LongWord().process(batch).data["text"].to_pylist()
    ['short words']

    Args:
        max_length: Most characters in a word to keep a document.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    max_length: int = 1000
    words: SpacedWords = "whitespace"

    name = "text.long_word"

    def __post_init__(self) -> None:
        check_positive(self.name, max_length=self.max_length)

    def score(self) -> pl.Expr:
        return pl.col("longest_word")

    def rules(self) -> Sequence[Rule]:
        return [Rule("word_too_long", surface(self.words), self.score() > self.max_length)]
