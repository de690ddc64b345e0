"""Drop documents that break one of FineWeb's rules for quality."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from curator_text.filters.rule_filter import Rule, RuleFilter, share
from curator_text.metrics.line_counts import FINEWEB_SHORT_LINE, line_counts
from curator_text.metrics.word_counts import Words, word_counts

__all__ = ["FinewebQuality"]


@dataclass
class FinewebQuality(RuleFilter):
    r"""Keep documents whose lines look like prose by the rules of FineWeb (Penedo et al. 2024, section 3.6).

    Rules, their order and reasons are those of datatrove 0.10.1, over the lines that are not blank: ``empty`` where
    there are none, ``line_punct_ratio`` where too few end with punctuation, ``short_line_ratio`` where too many are
    short, ``char_dup_ratio`` where too many characters are in lines that occurred before, and ``list_ratio`` where
    there are too many line ends per word. A limit of None is not applied.

    >>> from curator_text import DocumentBatch
    >>> texts = ["Home\nNews\nAbout us\nContact", "A line of prose ends with a full stop.\nSo does this one, too."]
    >>> FinewebQuality(tag=True).process(DocumentBatch(data={"text": texts})).data["fineweb_quality_reason"].to_pylist()
    ['line_punct_ratio', None]

    Args:
        words: How text is split into words: ``whitespace`` as ``str.split()`` does; ``spacy_like``, as spaCy's English
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter of
            ``chinese``, ``japanese`` or ``thai`` has put some between them.
        min_ended_lines: Smallest share of lines that end with punctuation.
        allow_no_ended_lines: Whether to keep documents in which no line does.
        line_ends: The characters that end a line; those that end sentences in any script unless given.
        max_short_lines: Largest share of short lines.
        short_line: Most characters of a short line.
        max_repeated_chars: Largest share of characters in lines that occurred before.
        max_newlines_per_word: Most line ends per word.
    """

    words: Words = "whitespace"
    min_ended_lines: float | None = 0.12
    allow_no_ended_lines: bool = False
    line_ends: str | None = None
    max_short_lines: float | None = 0.67
    short_line: int = FINEWEB_SHORT_LINE
    max_repeated_chars: float | None = 0.01
    max_newlines_per_word: float | None = 0.3

    name = "text.fineweb_quality"

    def rules(self) -> list[Rule]:
        lines = line_counts(self.short_line, self.line_ends)
        rules = [Rule("empty", lines, pl.col("full_lines") == 0)]
        if self.min_ended_lines is not None:
            few = share("ended_lines", "full_lines") < self.min_ended_lines
            if self.allow_no_ended_lines:
                few &= pl.col("ended_lines") > 0
            rules.append(Rule("line_punct_ratio", lines, few))
        if self.max_short_lines is not None:
            rules.append(Rule("short_line_ratio", lines, share("short_lines", "full_lines") > self.max_short_lines))
        if self.max_repeated_chars is not None:
            repeated = share("repeated_full_line_chars", pl.col("chars") - pl.col("newlines"))
            rules.append(Rule("char_dup_ratio", lines, repeated > self.max_repeated_chars))
        if self.max_newlines_per_word is not None:
            words = word_counts(self.words)
            too_many = share("newlines", "words") > self.max_newlines_per_word
            rules.append(Rule("list_ratio", (lines, words), too_many))
        return rules
