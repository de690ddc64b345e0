"""Drop documents by their words: how many, how long, which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, Verdict, check_range
from curator_table import SpacedWords, check_segmenter
from curator_text.checks import check_fraction, check_positive
from curator_text.filters.rules import ratio
from curator_text.metrics.surface import SURFACE, compile_surface, surface

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["CommonEnglishWords", "LongWord", "MeanWordLength", "SymbolsToWords", "WordCount", "WordsWithoutAlphabets"]


@dataclass
class WordCount(Filter):
    """Keep documents of ``min_words`` to ``max_words`` words; an empty document has none.

    The defaults are those of Gopher (Rae et al. 2021, appendix A.1.1) and NeMo Curator's ``WordCountFilter``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["too short", "long enough to be kept"]})
    >>> WordCount(min_words=3).process(batch).data["text"].to_pylist()
    ['long enough to be kept']

    Args:
        min_words: Minimum number of words to keep a document.
        max_words: Maximum number of words to keep a document.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    min_words: int = 50
    max_words: int = 100_000
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.word_count"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_range(self.name, min_words=self.min_words, max_words=self.max_words)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = surface(self.words).score(batch, self.text_column, pl.col("words"))
        return Verdict.between(found, self.min_words, self.max_words, below="too_few_words", above="too_many_words")


@dataclass
class MeanWordLength(Filter):
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
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    min_length: float = 3.0
    max_length: float = 10.0
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.mean_word_length"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_range(self.name, min_length=self.min_length, max_length=self.max_length)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = surface(self.words).score(batch, self.text_column, ratio("word_chars", "words", of_nothing=0.0))
        return Verdict.between(
            found, self.min_length, self.max_length, below="mean_word_too_short", above="mean_word_too_long"
        )


@dataclass
class LongWord(Filter):
    """Keep documents whose longest word has at most ``max_length`` characters.

    This is NeMo Curator's ``LongWordFilter``, after C4's code: it finds minified scripts and encoded data. The
    longest word of a document without words has length zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["data:" + "x" * 1000, "short words"]})
    >>> LongWord().process(batch).data["text"].to_pylist()
    ['short words']

    Args:
        max_length: Maximum number of characters in a word to keep a document.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    max_length: int = 1000
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.long_word"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_positive(self.name, max_length=self.max_length)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = surface(self.words).score(batch, self.text_column, pl.col("longest_word"))
        return Verdict(found, {"word_too_long": found > self.max_length})


@dataclass
class SymbolsToWords(Filter):
    """Keep documents in which at most ``max_fraction`` of the words are symbols.

    A word is a symbol if the number of runs of hash signs in it is more than half its characters (``#``, ``#a#``), or
    if it is one of ``... … [...] […] (...) -»``. This is NeMo Curator's ``SymbolsToWordsFilter``, after Gopher (Rae et
    al. 2021, appendix A.1.1). A document without words scores one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["# # a heading", "plain words only"]})
    >>> SymbolsToWords().process(batch).data["text"].to_pylist()
    ['plain words only']

    Args:
        max_fraction: Largest fraction of words that are symbols to keep a document, from 0 to 1.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    max_fraction: float = 0.1
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.symbols_to_words"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = surface(self.words).score(batch, self.text_column, ratio("symbol_words", "words", of_nothing=1.0))
        return Verdict(found, {"too_many_symbol_words": found > self.max_fraction})


@dataclass
class WordsWithoutAlphabets(Filter):
    """Keep documents in which at least ``min_fraction`` of the words hold a letter.

    Letters are those of every script (Unicode's Alphabetic property). This is NeMo Curator's
    ``WordsWithoutAlphabetsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1). A document without words
    scores zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["1 + 1 = two", "one plus one"]})
    >>> WordsWithoutAlphabets().process(batch).data["text"].to_pylist()
    ['one plus one']

    Args:
        min_fraction: Smallest fraction of words with a letter to keep a document, from 0 to 1.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    min_fraction: float = 0.8
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.words_without_alphabets"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = surface(self.words).score(batch, self.text_column, ratio("lettered_words", "words", of_nothing=0.0))
        return Verdict(found, {"too_few_words_with_letters": found < self.min_fraction})


@dataclass
class CommonEnglishWords(Filter):
    """Keep documents with at least ``min_words`` of the words ``the be to of and that have with``.

    They count in lower case only, so that shouting is dropped too, and each as often as it occurs. This is NeMo
    Curator's ``CommonEnglishWordsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1); its score stops at
    ``min_words``, ours is the full count.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["buy cheap stuff now", "the end of it"]})
    >>> CommonEnglishWords().process(batch).data["text"].to_pylist()
    ['the end of it']

    Args:
        min_words: Minimum number of common words to keep a document.
        text_column: Column with the text.
    """

    min_words: int = 2
    text_column: str = "text"

    name = "text.common_english_words"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_positive(self.name, min_words=self.min_words)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, pl.col("common_words"))
        return Verdict(found, {"too_few_common_words": found < self.min_words})
