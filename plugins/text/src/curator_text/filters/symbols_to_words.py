"""Drop documents with many words that are hash signs or ellipses."""

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

__all__ = ["SymbolsToWords"]


@dataclass
class SymbolsToWords(RuleFilter):
    """Keep documents of which at most ``max_share`` of the words are symbols.

    A word is a symbol if the number of runs of hash signs in it is more than half its characters (``#``, ``#a#``), or
    if it is one of ``... … [...] […] (...) -»``. This is NeMo Curator's ``SymbolsToWordsFilter``, after Gopher (Rae et
    al. 2021, appendix A.1.1). A document without words has share one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["# # a heading", "plain words only"]})
    >>> SymbolsToWords().process(batch).data["text"].to_pylist()
    ['plain words only']

    Args:
        max_share: Largest share of words that are symbols to keep a document, from 0 to 1.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        text_field: Column with the text.
    """

    max_share: float = 0.1
    words: SpacedWords = "whitespace"

    name = "text.symbols_to_words"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("symbol_words", "words", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_symbol_words", surface(self.words), self.score() > self.max_share)]
