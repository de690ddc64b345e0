"""Drop documents that repeat themselves, by Gopher's rules."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from curator_core.sdk import ConfigError
from curator_text.filters.rule_filter import Rule, RuleFilter, share
from curator_text.metrics.gopher_ngrams import gopher_ngrams
from curator_text.metrics.line_counts import line_counts
from curator_text.metrics.word_counts import Words

__all__ = ["GopherRepetition"]

SMALLEST_N = 2


@dataclass
class GopherRepetition(RuleFilter):
    r"""Keep documents that repeat few of their lines, paragraphs and n-grams (Gopher, Rae et al. 2021, table A1).

    Rules, their order and reasons are those of datatrove 0.10.1: ``empty``; ``dup_para_frac`` and
    ``dup_para_char_frac``, the share of paragraphs, and of characters, in paragraphs that occurred before;
    ``dup_line_frac`` and ``dup_line_char_frac``, likewise for lines; ``top_N_gram``, the share of characters in the
    most frequent n-gram; ``duplicated_N_n_grams``, the share of characters in n-grams that occurred before. N-grams
    are looked at only in documents whose lines and paragraphs pass. A limit of None is not applied.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["buy now\nbuy now\nbuy now", "First.\nThen the rest.\nThe end."]})
    >>> GopherRepetition(top_ngrams={}).process(batch).num_rows
    1

    Args:
        words: How text is split into words: ``whitespace`` as ``str.split()`` does; ``spacy_like``, as spaCy's English
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter of
            ``chinese``, ``japanese`` or ``thai`` has put some between them.
        max_repeated_lines: Largest share of lines that occurred before.
        max_repeated_paragraphs: Largest share of paragraphs that occurred before.
        max_repeated_line_chars: Largest share of characters in lines that occurred before.
        max_repeated_paragraph_chars: Largest share of characters in paragraphs that occurred before.
        top_ngrams: For some n, the largest share of characters in the most frequent n-gram.
        repeated_ngrams: For some n, the largest share of characters in n-grams that occurred before.
    """

    words: Words = "whitespace"
    max_repeated_lines: float | None = 0.3
    max_repeated_paragraphs: float | None = 0.3
    max_repeated_line_chars: float | None = 0.2
    max_repeated_paragraph_chars: float | None = 0.2
    top_ngrams: dict[int, float] = field(default_factory=lambda: {2: 0.20, 3: 0.18, 4: 0.16})
    repeated_ngrams: dict[int, float] = field(
        default_factory=lambda: {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}
    )

    name = "text.gopher_repetition"

    def __post_init__(self) -> None:
        for n in (*self.top_ngrams, *self.repeated_ngrams):
            if n < SMALLEST_N:
                raise ConfigError(f"{self.name}: n-grams have at least {SMALLEST_N} words, got n={n}")

    def rules(self) -> list[Rule]:
        lines = line_counts()
        ngrams = gopher_ngrams(self.words, tuple(self.top_ngrams), tuple(self.repeated_ngrams))
        shares = [
            ("dup_para_frac", share("repeated_paragraphs", "paragraphs"), self.max_repeated_paragraphs),
            ("dup_para_char_frac", share("repeated_paragraph_chars", "chars"), self.max_repeated_paragraph_chars),
            ("dup_line_frac", share("repeated_lines", "split_lines"), self.max_repeated_lines),
            ("dup_line_char_frac", share("repeated_line_chars", "chars"), self.max_repeated_line_chars),
        ]
        return [
            Rule("empty", lines, pl.col("chars") == 0),
            *(Rule(reason, lines, value > limit) for reason, value, limit in shares if limit is not None),
            *(
                Rule(f"top_{n}_gram", (lines, ngrams), share(f"top_{n}_chars", "chars") > limit)
                for n, limit in self.top_ngrams.items()
            ),
            *(
                Rule(f"duplicated_{n}_n_grams", (lines, ngrams), share(f"repeated_{n}_chars", "chars") > limit)
                for n, limit in self.repeated_ngrams.items()
            ),
        ]
