"""Drop documents that repeat lines, paragraphs or n-grams of words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_table import SpacedWords, check_segmenter
from curator_text.checks import check_fraction, check_positive
from curator_text.filters.rules import Rule, compile_rules, judge_rules, ratio
from curator_text.metrics.lines import REPEATS, compile_repeats, line_counts
from curator_text.metrics.ngrams import compile_nemo_ngrams, gopher_ngrams, nemo_ngrams
from curator_text.metrics.word_counts import Words

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch

__all__ = [
    "GopherRepetition",
    "RepeatedLines",
    "RepeatedLinesByChar",
    "RepeatedParagraphs",
    "RepeatedParagraphsByChar",
    "RepeatingDuplicateNGrams",
    "RepeatingTopNGrams",
]

MIN_N = 2
"""Words of the shortest n-gram of Gopher's rules."""
TOP_FRACTIONS = {2: 0.2, 3: 0.18, 4: 0.16}
REPEATED_FRACTIONS = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.1}
"""Gopher, Rae et al. 2021, table A1."""
OTHER_FRACTION = 0.2
"""NeMo Curator's default for all n."""


@dataclass
class RepeatedLines(Filter):
    r"""Keep documents in which at least ``min_fraction`` of the lines are different ones.

    Lines are cut at newlines; blank ones do not count, and white space around a line makes it another one. This is NeMo
    Curator's ``RepeatedLinesFilter`` (whose threshold is called ``max_repeated_line_fraction``), after Gopher (Rae et
    al. 2021, table A1). A document without lines scores zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["spam\nspam\nspam\neggs", "ham\neggs"]})
    >>> RepeatedLines().process(batch).data["text"].to_pylist()
    ['ham\neggs']

    Args:
        min_fraction: Smallest fraction of different lines to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    min_fraction: float = 0.7
    text_column: str = "text"

    name = "text.repeated_lines"
    setup_on_node = compile_repeats

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = REPEATS.score(batch, self.text_column, ratio("distinct_lines", "lines", of_nothing=0.0))
        return Verdict(found, {"repeated_lines": found < self.min_fraction})


@dataclass
class RepeatedLinesByChar(Filter):
    r"""Keep documents in which at least ``min_fraction`` of the characters are left without repeated lines.

    Lines are cut at newlines; blank ones do not count, and white space around a line makes it another one. Newlines
    between them are not counted. This is NeMo Curator's ``RepeatedLinesByCharFilter``, after Gopher (Rae et al. 2021,
    table A1). A document without characters in lines scores zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a long line\na long line", "ham\neggs"]})
    >>> RepeatedLinesByChar().process(batch).data["text"].to_pylist()
    ['ham\neggs']

    Args:
        min_fraction: Smallest fraction of characters in different lines to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    min_fraction: float = 0.8
    text_column: str = "text"

    name = "text.repeated_lines_by_char"
    setup_on_node = compile_repeats

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = REPEATS.score(
            batch, self.text_column, ratio("chars_in_distinct_lines", "chars_in_lines", of_nothing=0.0)
        )
        return Verdict(found, {"repeated_lines_by_char": found < self.min_fraction})


@dataclass
class RepeatedParagraphs(Filter):
    r"""Keep documents in which at least ``min_fraction`` of the paragraphs are different ones.

    Paragraphs are cut at two newlines; blank ones count. This is NeMo Curator's ``RepeatedParagraphsFilter`` (whose
    threshold is called ``max_repeated_paragraphs_ratio``), after Gopher (Rae et al. 2021, table A1).

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["spam\n\nspam\n\nspam", "ham\n\neggs"]})
    >>> RepeatedParagraphs().process(batch).data["text"].to_pylist()
    ['ham\n\neggs']

    Args:
        min_fraction: Smallest fraction of different paragraphs to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    min_fraction: float = 0.7
    text_column: str = "text"

    name = "text.repeated_paragraphs"
    setup_on_node = compile_repeats

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = REPEATS.score(batch, self.text_column, ratio("distinct_paragraphs", "paragraphs", of_nothing=0.0))
        return Verdict(found, {"repeated_paragraphs": found < self.min_fraction})


@dataclass
class RepeatedParagraphsByChar(Filter):
    r"""Keep documents in which at least ``min_fraction`` of the characters are left without repeated paragraphs.

    Paragraphs are cut at two newlines; blank ones count. Newlines between them are not counted. This is NeMo Curator's
    ``RepeatedParagraphsByCharFilter``, after Gopher (Rae et al. 2021, table A1). A document without characters in
    paragraphs scores zero; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a long one\n\na long one", "ham\n\neggs"]})
    >>> RepeatedParagraphsByChar().process(batch).data["text"].to_pylist()
    ['ham\n\neggs']

    Args:
        min_fraction: Smallest fraction of characters in different paragraphs to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    min_fraction: float = 0.8
    text_column: str = "text"

    name = "text.repeated_paragraphs_by_char"
    setup_on_node = compile_repeats

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = REPEATS.score(
            batch, self.text_column, ratio("chars_in_distinct_paragraphs", "chars_in_paragraphs", of_nothing=0.0)
        )
        return Verdict(found, {"repeated_paragraphs_by_char": found < self.min_fraction})


@dataclass
class RepeatingTopNGrams(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are in the most frequent n-gram.

    An n-gram is ``n`` words in a row. The n-gram's words are joined by single spaces and all places where the document
    holds this string count, as in NeMo Curator's ``RepeatingTopNGramsFilter``, after Gopher (Rae et al. 2021, table
    A1). Where several n-grams are equally frequent, ours is the first of them; NeMo Curator takes any, and so can judge
    a document differently from run to run. A document with less than ``n`` words scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["hot tea, " * 20, "a cup of hot tea in the morning, one at noon"]})
    >>> RepeatingTopNGrams().process(batch).data["text"].to_pylist()
    ['a cup of hot tea in the morning, one at noon']

    Args:
        n: Words in an n-gram.
        max_fraction: Largest fraction to keep a document, from 0 to 1; by default that of Gopher for n of 2, 3 and 4,
            else 0.2.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    n: int = 2
    max_fraction: float | None = None
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.repeating_top_n_grams"
    setup_on_node = compile_nemo_ngrams

    def __post_init__(self) -> None:
        check_positive(self.name, n=self.n)
        if self.max_fraction is not None:
            check_fraction(self.name, max_fraction=self.max_fraction)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        limit = TOP_FRACTIONS.get(self.n, OTHER_FRACTION) if self.max_fraction is None else self.max_fraction
        group = nemo_ngrams(top=self.n, words=self.words)
        found = group.score(batch, self.text_column, pl.col(f"top_{self.n}"))
        return Verdict(found, {f"top_{self.n}_gram": found > limit})


@dataclass
class RepeatingDuplicateNGrams(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are in n-grams that occurred before.

    An n-gram is ``n`` words in a row. Words that belong to several such n-grams count once, and so do the spaces
    between them. This is NeMo Curator's ``RepeatingDuplicateNGramsFilter``, after Gopher (Rae et al. 2021, table A1). A
    document with less than ``n`` words scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["one and two and " * 9, "a cup of hot tea in the morning, one at noon"]})
    >>> RepeatingDuplicateNGrams().process(batch).data["text"].to_pylist()
    ['a cup of hot tea in the morning, one at noon']

    Args:
        n: Words in an n-gram.
        max_fraction: Largest fraction to keep a document, from 0 to 1; by default that of Gopher for n of 5 to 10, else
            0.2.
        words: How text is split into words: at ``whitespace``; for ``chinese``, ``japanese`` or ``thai``, a segmenter
            inserts spaces first.
        text_column: Column with the text.
    """

    n: int = 2
    max_fraction: float | None = None
    words: SpacedWords = "whitespace"
    text_column: str = "text"

    name = "text.repeating_duplicate_n_grams"
    setup_on_node = compile_nemo_ngrams

    def __post_init__(self) -> None:
        check_positive(self.name, n=self.n)
        if self.max_fraction is not None:
            check_fraction(self.name, max_fraction=self.max_fraction)

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def judge(self, batch: TableBatch) -> Verdict:
        limit = REPEATED_FRACTIONS.get(self.n, OTHER_FRACTION) if self.max_fraction is None else self.max_fraction
        group = nemo_ngrams(repeated=self.n, words=self.words)
        found = group.score(batch, self.text_column, pl.col(f"repeated_{self.n}"))
        return Verdict(found, {f"duplicate_{self.n}_grams": found > limit})


@dataclass
class GopherRepetition(Filter):
    r"""Keep documents that repeat few of their lines, paragraphs and n-grams (Gopher, Rae et al. 2021, table A1).

    Rules, their order and reasons are those of datatrove 0.10.1: ``empty``; ``dup_para_frac`` and
    ``dup_para_char_frac``, the fraction of paragraphs, and of characters, in paragraphs that occurred before;
    ``dup_line_frac`` and ``dup_line_char_frac``, likewise for lines; ``top_N_gram``, the fraction of characters in the
    most frequent n-gram; ``duplicated_N_n_grams``, the fraction of characters in n-grams that occurred before. N-grams
    are looked at only in documents whose lines and paragraphs pass. A limit of None is not applied.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["buy now\nbuy now\nbuy now", "First.\nThen the rest.\nThe end."]})
    >>> GopherRepetition(max_top_ngram_fraction={}).process(batch).num_rows
    1

    Args:
        words: How text is split into words: ``whitespace`` as ``str.split()`` does; ``spacy_like``, as spaCy's English
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter for
            ``chinese``, ``japanese`` or ``thai`` has inserted spaces.
        max_repeated_line_fraction: Largest fraction of lines that occurred before.
        max_repeated_paragraph_fraction: Largest fraction of paragraphs that occurred before.
        max_repeated_line_char_fraction: Largest fraction of characters in lines that occurred before.
        max_repeated_paragraph_char_fraction: Largest fraction of characters in paragraphs that occurred before.
        max_top_ngram_fraction: For some n, the largest fraction of characters in the most frequent n-gram.
        max_repeated_ngram_fraction: For some n, the largest fraction of characters in n-grams that occurred before.
    """

    words: Words = "whitespace"
    max_repeated_line_fraction: float | None = 0.3
    max_repeated_paragraph_fraction: float | None = 0.3
    max_repeated_line_char_fraction: float | None = 0.2
    max_repeated_paragraph_char_fraction: float | None = 0.2
    max_top_ngram_fraction: dict[int, float] = field(default_factory=lambda: {2: 0.20, 3: 0.18, 4: 0.16})
    max_repeated_ngram_fraction: dict[int, float] = field(
        default_factory=lambda: {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}
    )
    text_column: str = "text"

    name = "text.gopher_repetition"

    def __post_init__(self) -> None:
        for n in (*self.max_top_ngram_fraction, *self.max_repeated_ngram_fraction):
            if n < MIN_N:
                raise ConfigError(f"{self.name}: n-grams have at least {MIN_N} words, got n={n}")

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        compile_rules(self.rules())

    def judge(self, batch: TableBatch) -> Verdict:
        return judge_rules(batch, self.text_column, self.rules(), measure_all=self.tag)

    def rules(self) -> list[Rule]:
        """Return the rules in the order in which they are judged, cheap metrics first."""
        lines = (line_counts(),)
        ngrams = gopher_ngrams(self.words, tuple(self.max_top_ngram_fraction), tuple(self.max_repeated_ngram_fraction))
        both = (*lines, ngrams)
        fractions = [
            ("dup_para_frac", ratio("repeated_paragraphs", "paragraphs"), self.max_repeated_paragraph_fraction),
            (
                "dup_para_char_frac",
                ratio("repeated_paragraph_chars", "chars"),
                self.max_repeated_paragraph_char_fraction,
            ),
            ("dup_line_frac", ratio("repeated_lines", "split_lines"), self.max_repeated_line_fraction),
            ("dup_line_char_frac", ratio("repeated_line_chars", "chars"), self.max_repeated_line_char_fraction),
        ]
        return [
            Rule("empty", lines, pl.col("chars") == 0),
            *(Rule(reason, lines, value > limit) for reason, value, limit in fractions if limit is not None),
            *(
                Rule(f"top_{n}_gram", both, ratio(f"top_{n}_chars", "chars") > limit)
                for n, limit in self.max_top_ngram_fraction.items()
            ),
            *(
                Rule(f"duplicated_{n}_n_grams", both, ratio(f"repeated_{n}_chars", "chars") > limit)
                for n, limit in self.max_repeated_ngram_fraction.items()
            ),
        ]
