"""Drop documents that break one of Gopher's rules for quality."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from curator_core.sdk import ConfigError, check_range
from curator_text.filters.rule_filter import Rule, RuleFilter, share
from curator_text.metrics.line_counts import line_counts
from curator_text.metrics.word_counts import GOPHER_STOP_WORDS, MOST_STOP_WORDS, Words, word_counts

__all__ = ["GopherQuality"]


@dataclass
class GopherQuality(RuleFilter):
    """Keep documents that look like prose by the rules of Gopher (Rae et al. 2021, appendix A.1.1).

    Rules, their order and reasons are those of datatrove 0.10.1: ``gopher_short_doc`` and ``gopher_long_doc`` by the
    number of words that are not only punctuation, ``gopher_below_avg_threshold`` and ``gopher_above_avg_threshold`` by
    the mean number of characters in those, ``gopher_too_many_hashes`` and ``gopher_too_many_ellipsis`` per word,
    ``gopher_too_many_bullets`` and ``gopher_too_many_end_ellipsis`` per line, ``gopher_below_alpha_threshold`` by the
    share of words with a letter, ``gopher_enough_stop_words`` by how many different stop words occur. A limit of None
    is not applied.

    >>> from curator_text import DocumentBatch
    >>> texts = ["Too short.", "It is the habit of the sea to be calm in the morning and wild at night. " * 5]
    >>> tagged = GopherQuality(tag=True).process(DocumentBatch(data={"text": texts}))
    >>> tagged.data["gopher_quality_reason"].to_pylist()
    ['gopher_short_doc', None]

    Args:
        words: How text is split into words: ``whitespace`` as ``str.split()`` does; ``spacy_like``, as spaCy's English
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter of
            ``chinese``, ``japanese`` or ``thai`` has put some between them.
        min_words: Fewest words that are not only punctuation.
        max_words: Most words that are not only punctuation.
        min_mean_word_length: Smallest mean number of characters in those words.
        max_mean_word_length: Largest mean number of characters in those words.
        max_symbols_per_word: Most ``#``, and most ellipses, per word.
        max_bullet_lines: Largest share of lines that start with a bullet.
        max_ellipsis_lines: Largest share of lines that end with an ellipsis.
        min_alpha_words: Smallest share of words with a letter.
        min_stop_words: Fewest different stop words.
        stop_words: The stop words, at most 64; Gopher's eight English ones unless given.
    """

    words: Words = "whitespace"
    min_words: int | None = 50
    max_words: int | None = 100_000
    min_mean_word_length: float | None = 3.0
    max_mean_word_length: float | None = 10.0
    max_symbols_per_word: float | None = 0.1
    max_bullet_lines: float | None = 0.9
    max_ellipsis_lines: float | None = 0.3
    min_alpha_words: float | None = 0.8
    min_stop_words: int | None = 2
    stop_words: list[str] | None = None

    name = "text.gopher_quality"

    def __post_init__(self) -> None:
        check_range(self.name, min_words=self.min_words, max_words=self.max_words)
        check_range(
            self.name,
            min_mean_word_length=self.min_mean_word_length,
            max_mean_word_length=self.max_mean_word_length,
        )
        if self.stop_words is not None and len(self.stop_words) > MOST_STOP_WORDS:
            raise ConfigError(
                f"{self.name}: {len(self.stop_words)} stop words, but at most {MOST_STOP_WORDS} can be counted",
                fix="give the most frequent ones",
            )

    def rules(self) -> list[Rule]:
        stop_words = GOPHER_STOP_WORDS if self.stop_words is None else tuple(self.stop_words)
        words, lines = word_counts(self.words, stop_words), line_counts()
        mean = share("solid_word_chars", "solid_words")
        both = (words, lines)
        limits = [
            ("gopher_short_doc", (words,), pl.col("solid_words"), self.min_words, None),
            ("gopher_long_doc", (words,), pl.col("solid_words"), None, self.max_words),
            ("gopher_below_avg_threshold", (words,), mean, self.min_mean_word_length, None),
            ("gopher_above_avg_threshold", (words,), mean, None, self.max_mean_word_length),
            ("gopher_too_many_hashes", both, share("hashes", "words"), None, self.max_symbols_per_word),
            ("gopher_too_many_ellipsis", both, share("ellipses", "words"), None, self.max_symbols_per_word),
            ("gopher_too_many_bullets", both, share("bullet_lines", "lines"), None, self.max_bullet_lines),
            ("gopher_too_many_end_ellipsis", both, share("ellipsis_lines", "lines"), None, self.max_ellipsis_lines),
            ("gopher_below_alpha_threshold", both, share("alpha_words", "words"), self.min_alpha_words, None),
            ("gopher_enough_stop_words", both, pl.col("stop_words"), self.min_stop_words, None),
        ]
        rules = []
        for reason, groups, value, low, high in limits:
            if low is not None:
                rules.append(Rule(reason, groups, value < low))
            if high is not None:
                rules.append(Rule(reason, groups, value > high))
        return rules
