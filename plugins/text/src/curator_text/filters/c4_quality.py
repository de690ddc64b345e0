"""Edit documents line by line and drop those of which too little is left, by the rules of C4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from curator_core.sdk import Filter, Verdict
from curator_text.metrics.c4_lines import C4Rules, edit_c4_lines
from curator_text.metrics.text_bytes import text_bytes_of
from curator_text.metrics.word_counts import EnglishWords

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.sdk import NodeInfo, TableBatch
    from curator_text.metrics.c4_lines import C4Lines

__all__ = ["C4Quality"]

LOREM_IPSUM, CURLY_BRACKET = 1, 2


@dataclass
class C4Quality(Filter):
    r"""Keep the lines of documents that are prose, and documents with enough of them (C4, Raffel et al. 2020, 2.2).

    Rules and reasons are those of datatrove 0.10.1. A line is dropped if it has a word of more than 1000 characters,
    does not end with ``. ? ! " '`` or ends with ``...``, has fewer than three words, mentions javascript, or the terms
    of use, privacy or cookies of a site; citations such as ``[1]`` are cut out first. A document is dropped for
    ``lorem_ipsum`` or ``curly_bracket`` in one of its lines (that was not dropped before), and for
    ``too_few_sentences`` in those that are kept. The text of documents that are kept is what is left of them. Bad
    words, the last of C4's rules, are left to ``text.word_blocklist``.

    The score is the number of sentences. With ``tag``, documents that would be dropped keep their text.

    >>> from curator_text import DocumentBatch
    >>> text = "Home | About\nThis is a line of prose. It has two sentences.\n(c) 2020"
    >>> C4Quality(min_sentences=2).process(DocumentBatch(data={"text": [text]})).data["text"].to_pylist()
    ['This is a line of prose. It has two sentences.']

    Args:
        words: How sentences are told apart: ``spacy_like`` as spaCy's sentencizer does, behind its English tokenizer,
            ``whitespace`` as datatrove does for languages that have no tokenizer.
        remove_citations: Whether to cut out ``[1]``, ``[edit]`` and ``[citation needed]``.
        need_end_mark: Whether to drop lines without an end mark.
        min_sentences: Fewest sentences of a document; None for any.
        min_words_per_line: Fewest words of a line, split at whitespace; None for any.
        max_word_length: Lines with a longer word are dropped; None for any.
        drop_lorem_ipsum: Whether to drop documents with "lorem ipsum".
        drop_javascript: Whether to drop lines that mention javascript.
        drop_curly_bracket: Whether to drop documents with ``{``.
        drop_policy: Whether to drop lines about terms of use, privacy and cookies.
        text_field: Column with the text.
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
    text_field: str = "text"

    name = "text.c4_quality"

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        from curator_text.metrics.c4_lines import prepare

        prepare()

    def process(self, task: TableBatch) -> TableBatch | None:
        """Replace the text of documents that pass, and drop, or tag, the others."""
        edited = self._edit(task)
        verdict = self._verdict(task, edited)
        column = task.data.column(self.text_field)
        texts = edited.texts()
        if self.tag or self.invert or self.save_dropped:
            texts = _replace(column, ~np.logical_or.reduce(list(verdict.reasons.values())), texts)
        changed = task.with_column(self.text_field, texts.cast(column.type) if _is_string(column.type) else texts)
        return self.apply(changed, verdict)

    def judge(self, batch: TableBatch) -> Verdict:
        return self._verdict(batch, self._edit(batch))

    def _edit(self, batch: TableBatch) -> C4Lines:
        return edit_c4_lines(text_bytes_of(batch, self.text_field), self._rules(), self.min_sentences or 0)

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
        is_null = batch.data.column(self.text_field).is_null().to_numpy()
        if is_null.any():
            score = pl.select(pl.when(pl.Series(~is_null)).then(score)).to_series()
        reasons = {
            "lorem_ipsum": edited.verdicts == LOREM_IPSUM,
            "curly_bracket": edited.verdicts == CURLY_BRACKET,
            "too_few_sentences": edited.sentences < (self.min_sentences or 0),
        }
        return Verdict(score, reasons)


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _replace(column: pa.ChunkedArray, is_kept: NDArray[np.bool_], texts: pa.Array) -> pa.Array:
    """Return the texts where documents are kept, else what is in the column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    before = column.cast(pa.large_string())
    is_replaced = pc.and_(pa.array(is_kept), before.is_valid())
    return pc.if_else(is_replaced, texts, before)
