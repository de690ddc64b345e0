"""Drop documents that do not look like prose, by the rules of Gopher, C4 and FineWeb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict, check_range
from curator_table import check_segmenter
from curator_text.filters.rules import Rule, compile_rules, judge_rules, ratio
from curator_text.metrics.c4_lines import C4Rules, edit_c4_lines
from curator_text.metrics.lines import FINEWEB_SHORT_LINE, line_counts
from curator_text.metrics.text_bytes import text_bytes_of
from curator_text.metrics.word_counts import GOPHER_STOP_WORDS, MAX_STOP_WORDS, EnglishWords, Words, word_counts

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.sdk import NodeInfo, TableBatch
    from curator_text.metrics.c4_lines import C4Lines

__all__ = ["C4Quality", "FinewebQuality", "GopherQuality"]

_LOREM_IPSUM, _CURLY_BRACKET = 1, 2
"""Verdicts of the kernel about documents."""


@dataclass
class GopherQuality(Filter):
    """Keep documents that look like prose by the rules of Gopher (Rae et al. 2021, appendix A.1.1).

    Rules, their order and reasons are those of datatrove 0.10.1: ``gopher_short_doc`` and ``gopher_long_doc`` by the
    number of words that are not only punctuation, ``gopher_below_avg_threshold`` and ``gopher_above_avg_threshold`` by
    the mean number of characters in those, ``gopher_too_many_hashes`` and ``gopher_too_many_ellipsis`` per word,
    ``gopher_too_many_bullets`` and ``gopher_too_many_end_ellipsis`` per line, ``gopher_below_alpha_threshold`` by the
    fraction of words with a letter, ``gopher_enough_stop_words`` by how many different stop words occur. A limit of
    None is not applied.

    >>> from curator_text import DocumentBatch
    >>> texts = ["Too short.", "It is the habit of the sea to be calm in the morning and wild at night. " * 5]
    >>> tagged = GopherQuality(tag=True).process(DocumentBatch(data={"text": texts}))
    >>> tagged.data["gopher_quality_reason"].to_pylist()
    ['gopher_short_doc', None]

    Args:
        words: How text is split into words: ``whitespace`` as ``str.split()`` does; ``spacy_like``, as spaCy's English
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter for
            ``chinese``, ``japanese`` or ``thai`` has inserted spaces.
        min_words: Minimum number of words that are not only punctuation.
        max_words: Maximum number of words that are not only punctuation.
        min_mean_word_length: Smallest mean number of characters in those words.
        max_mean_word_length: Largest mean number of characters in those words.
        max_symbols_per_word: Maximum number of ``#``, and of ellipses, per word.
        max_bullet_line_fraction: Largest fraction of lines that start with a bullet.
        max_ellipsis_line_fraction: Largest fraction of lines that end with an ellipsis.
        min_alpha_word_fraction: Smallest fraction of words with a letter.
        min_stop_words: Minimum number of different stop words.
        stop_words: The stop words, at most 64; Gopher's eight English ones unless given.
    """

    words: Words = "whitespace"
    min_words: int | None = 50
    max_words: int | None = 100_000
    min_mean_word_length: float | None = 3.0
    max_mean_word_length: float | None = 10.0
    max_symbols_per_word: float | None = 0.1
    max_bullet_line_fraction: float | None = 0.9
    max_ellipsis_line_fraction: float | None = 0.3
    min_alpha_word_fraction: float | None = 0.8
    min_stop_words: int | None = 2
    stop_words: list[str] | None = None
    text_column: str = "text"

    name = "text.gopher_quality"

    def __post_init__(self) -> None:
        check_range(self.name, min_words=self.min_words, max_words=self.max_words)
        check_range(
            self.name,
            min_mean_word_length=self.min_mean_word_length,
            max_mean_word_length=self.max_mean_word_length,
        )
        if self.stop_words is not None and len(self.stop_words) > MAX_STOP_WORDS:
            raise ConfigError(
                f"{self.name}: {len(self.stop_words)} stop words, but at most {MAX_STOP_WORDS} can be counted",
                fix="give the most frequent ones",
            )

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        compile_rules(self.rules())

    def judge(self, batch: TableBatch) -> Verdict:
        return judge_rules(batch, self.text_column, self.rules(), measure_all=self.tag)

    def rules(self) -> list[Rule]:
        """Return the rules in the order in which they are judged, cheap metrics first."""
        stop_words = GOPHER_STOP_WORDS if self.stop_words is None else tuple(self.stop_words)
        words = (word_counts(self.words, stop_words),)
        both = (*words, line_counts())
        mean = ratio("solid_word_chars", "solid_words")
        limits = [
            ("gopher_short_doc", words, pl.col("solid_words"), self.min_words, None),
            ("gopher_long_doc", words, pl.col("solid_words"), None, self.max_words),
            ("gopher_below_avg_threshold", words, mean, self.min_mean_word_length, None),
            ("gopher_above_avg_threshold", words, mean, None, self.max_mean_word_length),
            ("gopher_too_many_hashes", both, ratio("hashes", "words"), None, self.max_symbols_per_word),
            ("gopher_too_many_ellipsis", both, ratio("ellipses", "words"), None, self.max_symbols_per_word),
            ("gopher_too_many_bullets", both, ratio("bullet_lines", "lines"), None, self.max_bullet_line_fraction),
            (
                "gopher_too_many_end_ellipsis",
                both,
                ratio("ellipsis_lines", "lines"),
                None,
                self.max_ellipsis_line_fraction,
            ),
            ("gopher_below_alpha_threshold", both, ratio("alpha_words", "words"), self.min_alpha_word_fraction, None),
            ("gopher_enough_stop_words", both, pl.col("stop_words"), self.min_stop_words, None),
        ]
        rules = []
        for reason, groups, value, low, high in limits:
            if low is not None:
                rules.append(Rule(reason, groups, value < low))
            if high is not None:
                rules.append(Rule(reason, groups, value > high))
        return rules


@dataclass
class FinewebQuality(Filter):
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
            tokenizer does, with which the thresholds of FineWeb were applied; or at whitespace, after a segmenter for
            ``chinese``, ``japanese`` or ``thai`` has inserted spaces.
        min_ended_line_fraction: Smallest fraction of lines that end with punctuation.
        allow_no_ended_lines: Whether to keep documents in which no line does.
        line_ends: The characters that end a line; those that end sentences in any script unless given.
        max_short_line_fraction: Largest fraction of short lines.
        short_line: Maximum number of characters of a short line.
        max_repeated_char_fraction: Largest fraction of characters in lines that occurred before.
        max_newlines_per_word: Maximum number of line ends per word.
    """

    words: Words = "whitespace"
    min_ended_line_fraction: float | None = 0.12
    allow_no_ended_lines: bool = False
    line_ends: str | None = None
    max_short_line_fraction: float | None = 0.67
    short_line: int = FINEWEB_SHORT_LINE
    max_repeated_char_fraction: float | None = 0.01
    max_newlines_per_word: float | None = 0.3
    text_column: str = "text"

    name = "text.fineweb_quality"

    def preflight(self) -> None:
        check_segmenter(self.name, self.words)

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        compile_rules(self.rules())

    def judge(self, batch: TableBatch) -> Verdict:
        return judge_rules(batch, self.text_column, self.rules(), measure_all=self.tag)

    def rules(self) -> list[Rule]:
        """Return the rules in the order in which they are judged, cheap metrics first."""
        lines = (line_counts(self.short_line, self.line_ends),)
        rules = [Rule("empty", lines, pl.col("full_lines") == 0)]
        if self.min_ended_line_fraction is not None:
            few = ratio("ended_lines", "full_lines") < self.min_ended_line_fraction
            if self.allow_no_ended_lines:
                few &= pl.col("ended_lines") > 0
            rules.append(Rule("line_punct_ratio", lines, few))
        if self.max_short_line_fraction is not None:
            too_many_short = ratio("short_lines", "full_lines") > self.max_short_line_fraction
            rules.append(Rule("short_line_ratio", lines, too_many_short))
        if self.max_repeated_char_fraction is not None:
            repeated = ratio("repeated_full_line_chars", pl.col("chars") - pl.col("newlines"))
            rules.append(Rule("char_dup_ratio", lines, repeated > self.max_repeated_char_fraction))
        if self.max_newlines_per_word is not None:
            too_many = ratio("newlines", "words") > self.max_newlines_per_word
            rules.append(Rule("list_ratio", (*lines, word_counts(self.words)), too_many))
        return rules


@dataclass
class C4Quality(Filter):
    r"""Keep the lines of documents that are prose, and documents with enough of them (C4, Raffel et al. 2020, 2.2).

    Rules and reasons are those of datatrove 0.10.1. A line is dropped if it has a word of more than 1000 characters,
    does not end with ``. ? ! " '`` or ends with ``...``, has fewer than three words, mentions javascript, or the terms
    of use, privacy or cookies of a site; citations such as ``[1]`` are cut out first. A document is dropped for
    ``lorem_ipsum`` or ``curly_bracket`` in one of its lines (that was not dropped before), and for
    ``too_few_sentences`` in those that are kept. Kept documents have only the remaining lines. Bad
    words, the last of C4's rules, are left to ``text.word_blocklist``.

    The score is the number of sentences. With ``tag``, documents that would be dropped keep their text.

    >>> from curator_text import DocumentBatch
    >>> text = "Home | About\nThis is a line of prose. It has two sentences.\n(c) 2020"
    >>> C4Quality(min_sentences=2).process(DocumentBatch(data={"text": [text]})).data["text"].to_pylist()
    ['This is a line of prose. It has two sentences.']

    Args:
        words: How sentences are found: ``spacy_like`` as spaCy's sentencizer does, behind its English tokenizer,
            ``whitespace`` as datatrove does for languages that have no tokenizer.
        remove_citations: Whether to cut out ``[1]``, ``[edit]`` and ``[citation needed]``.
        need_end_mark: Whether to drop lines without an end mark.
        min_sentences: Minimum number of sentences of a document; None for any.
        min_words_per_line: Minimum number of words of a line, split at whitespace; None for any.
        max_word_length: Lines with a longer word are dropped; None for any.
        drop_lorem_ipsum: Whether to drop documents with "lorem ipsum".
        drop_javascript: Whether to drop lines that mention javascript.
        drop_curly_bracket: Whether to drop documents with ``{``.
        drop_policy: Whether to drop lines about terms of use, privacy and cookies.
        text_column: Column with the text.
    """

    words: EnglishWords = "whitespace"
    remove_citations: bool = True
    need_end_mark: bool = True
    min_sentences: int | None = 5
    min_words_per_line: int | None = 3
    max_word_length: int | None = 1000
    drop_lorem_ipsum: bool = True
    drop_javascript: bool = True
    drop_curly_bracket: bool = True
    drop_policy: bool = True
    text_column: str = "text"

    name = "text.c4_quality"

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        from curator_text.metrics.c4_lines import prepare

        prepare()

    def process(self, task: TableBatch) -> TableBatch | None:
        """Replace the text of documents that pass, and drop, or tag, the others."""
        edited = self._edit(task)
        verdict = self._verdict(task, edited)
        column = task.data.column(self.text_column)
        texts = edited.texts()
        if self.tag or self.invert or self.save_dropped:
            texts = _replace(column, ~np.logical_or.reduce(list(verdict.reasons.values())), texts)
        changed = task.with_column(self.text_column, texts.cast(column.type) if _is_string(column.type) else texts)
        return self.apply(changed, verdict)

    def judge(self, batch: TableBatch) -> Verdict:
        return self._verdict(batch, self._edit(batch))

    def _edit(self, batch: TableBatch) -> C4Lines:
        return edit_c4_lines(text_bytes_of(batch, self.text_column), self._rules(), self.min_sentences or 0)

    def _rules(self) -> C4Rules:
        return C4Rules(
            words=self.words,
            remove_citations=self.remove_citations,
            need_end_mark=self.need_end_mark,
            min_words=self.min_words_per_line or 0,
            max_word_length=-1 if self.max_word_length is None else self.max_word_length,
            lorem_ipsum=self.drop_lorem_ipsum,
            javascript=self.drop_javascript,
            curly_bracket=self.drop_curly_bracket,
            policy=self.drop_policy,
        )

    def _verdict(self, batch: TableBatch, edited: C4Lines) -> Verdict:
        score = pl.Series("sentences", edited.sentences)
        is_null = batch.data.column(self.text_column).is_null().to_numpy()
        if is_null.any():
            score = pl.select(pl.when(pl.Series(~is_null)).then(score)).to_series()
        reasons = {
            "lorem_ipsum": edited.verdicts == _LOREM_IPSUM,
            "curly_bracket": edited.verdicts == _CURLY_BRACKET,
            "too_few_sentences": edited.sentences < (self.min_sentences or 0),
        }
        return Verdict(score, reasons)


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _replace(column: pa.ChunkedArray, is_kept: NDArray[np.bool_], texts: pa.Array) -> pa.Array:
    """Return the new texts of kept documents, and the column's values for the others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    before = column.cast(pa.large_string())
    is_replaced = pc.and_(pa.array(is_kept), before.is_valid())
    return pc.if_else(is_replaced, texts, before)
