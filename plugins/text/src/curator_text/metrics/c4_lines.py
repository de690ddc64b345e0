"""Edit documents line by line by the rules of C4, and measure the remaining text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes
    from curator_text.metrics.word_counts import EnglishWords

__all__ = ["C4Lines", "C4Rules", "edit_c4_lines", "prepare"]

PHRASES = b"javascriptlorem ipsumcookie policyuses use of use ----terms of useprivacy policy"
"""The phrases, in the order that the kernel expects."""
CITATIONS = b"[edit][citation needed]"


@dataclass(frozen=True)
class C4Rules:
    """Which rules to apply to lines.

    Args:
        words: Whose sentences are counted: those of spaCy's sentencizer for ``spacy_like``, else those of datatrove's
            fallback tokenizer.
        remove_citations: Whether to cut out ``[1]``, ``[edit]`` and ``[citation needed]``.
        need_end_mark: Whether to drop lines that do not end with an end or quotation mark.
        min_words: Minimum number of words of a line.
        max_word_length: Lines with a longer word are dropped; negative for any.
        lorem_ipsum: Whether to drop documents with "lorem ipsum".
        javascript: Whether to drop lines that mention javascript.
        curly_bracket: Whether to drop documents with a curly bracket.
        policy: Whether to drop lines about cookies, terms and privacy.
    """

    words: EnglishWords = "whitespace"
    remove_citations: bool = True
    need_end_mark: bool = True
    min_words: int = 3
    max_word_length: int = 1000
    lorem_ipsum: bool = True
    javascript: bool = True
    curly_bracket: bool = True
    policy: bool = True


@dataclass(frozen=True)
class C4Lines:
    """The remaining text of documents.

    Args:
        sentences: Number of sentences in the lines that are kept.
        verdicts: 1 for lorem ipsum and 2 for a curly bracket, which drop the document; else 0.
        data: The lines that are kept, joined again, of documents with enough sentences; the others are empty.
        offsets: Where documents start in ``data``.
    """

    sentences: NDArray[np.int64]
    verdicts: NDArray[np.uint8]
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def texts(self) -> pa.Array:
        """Return the documents as strings that share the bytes."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), len(self.offsets) - 1, buffers)


def edit_c4_lines(column: TextBytes, rules: C4Rules, min_sentences: int) -> C4Lines:
    r"""Apply the rules.

    >>> import polars as pl
    >>> from curator_text.metrics.text_bytes import text_bytes
    >>> edited = edit_c4_lines(text_bytes(pl.Series(["Menu\nThis line stays [1].\n"])), C4Rules(), 1)
    >>> edited.texts().to_pylist(), edited.sentences.tolist()
    (['This line stays .'], [1])

    Args:
        column: The documents.
        rules: Which rules to apply.
        min_sentences: Documents with fewer sentences are left empty.
    """
    from curator_text.kernels.blocks import PADDING, blocks
    from curator_text.kernels.c4_lines import edit_lines, join_lines, judge_lines
    from curator_text.kernels.read_only import read_only
    from curator_text.kernels.split_tables import split_tables

    if column is not _EXAMPLE:
        prepare()
    pages, kinds = split_tables()[:2]
    look_up = (pages, kinds, read_only(np.frombuffer(CITATIONS, dtype=np.uint8)))
    phrases = read_only(np.frombuffer(PHRASES, dtype=np.uint8))
    form = (rules.remove_citations, rules.need_end_mark, rules.min_words, rules.max_word_length)
    content = (rules.lorem_ipsum, rules.javascript, rules.curly_bracket, rules.policy)
    number = column.num_documents
    sentences = np.zeros(number, dtype=np.int64)
    verdicts = np.zeros(number, dtype=np.uint8)
    ends = np.zeros(number, dtype=np.int64)
    out = np.empty(int(column.offsets[-1] - column.offsets[0]) + PADDING, dtype=np.uint8)
    used = 0
    for block in blocks(column):
        rows = block.rows
        buffer = np.empty(block.size_bytes + 2 * PADDING, dtype=np.uint8)
        line_ends = np.empty(block.size_bytes + 2, dtype=np.int64)
        first_lines = np.empty(len(rows) + 1, dtype=np.int64)
        lines = edit_lines(block.data, block.offsets, rows, look_up, form, buffer, line_ends, first_lines)
        is_kept = np.empty(lines, dtype=np.bool_)
        why = np.empty(len(rows), dtype=np.uint8)
        judge_lines(buffer, line_ends, first_lines, phrases, content, is_kept, why)
        counts = np.zeros(lines, dtype=np.int64)
        kept = np.flatnonzero(is_kept)
        counts[kept] = _sentences(read_only(buffer), read_only(line_ends[: lines + 1]), kept, rules.words)
        before = np.concatenate([[0], np.cumsum(counts)])
        total = before[first_lines[1:]] - before[first_lines[:-1]]
        wanted = (why == 0) & (total >= min_sentences)
        block_ends = np.empty(len(rows), dtype=np.int64)
        used = join_lines(buffer, line_ends, first_lines, is_kept, wanted, pages, kinds, out, used, block_ends)
        sentences[rows], verdicts[rows], ends[rows] = total, why, block_ends
    offsets = np.zeros(number + 1, dtype=np.int64)
    np.maximum.accumulate(ends, out=offsets[1:])  # documents that were not looked at are empty
    return C4Lines(sentences, verdicts, out[:used], offsets)


def _sentences(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], rows: NDArray[np.int64], words: EnglishWords
) -> NDArray[np.int64]:
    from curator_text.kernels.blocks import word_room
    from curator_text.kernels.read_only import read_only
    from curator_text.kernels.sentences import count_sentences, count_terminated
    from curator_text.kernels.split_tables import split_tables
    from curator_text.kernels.words import split_documents

    counts = np.empty(len(rows), dtype=np.int64)
    rows = read_only(rows)
    tables = split_tables()
    if words == "whitespace":
        count_terminated(data, offsets, rows, tables[0], tables[1], counts)
        return counts
    room: tuple[NDArray[Any], ...] = word_room(int(offsets[-1]), spacy_like=True)
    firsts = np.empty(len(rows) + 1, dtype=np.int64)
    split_documents(data, offsets, rows, True, tables, room, firsts)
    count_sentences(data, offsets, rows, room, firsts, counts)
    return counts


def prepare() -> None:
    """Compile the kernels that editing needs, once a machine."""
    from curator_text.kernels.compiling import compile_once

    compile_once("c4_lines", _compile)


def _compile() -> None:
    edit_c4_lines(_EXAMPLE, C4Rules(words="whitespace"), 1)
    edit_c4_lines(_EXAMPLE, C4Rules(words="spacy_like"), 1)


def _example() -> TextBytes:
    from curator_text.metrics.text_bytes import TextBytes

    text = np.frombuffer(b"An example, which every kernel is called with once.", dtype=np.uint8)
    return TextBytes(text, np.array([0, len(text)], dtype=np.int64), None)


_EXAMPLE = _example()
