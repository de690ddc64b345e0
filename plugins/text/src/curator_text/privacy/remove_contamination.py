"""Cut benchmark questions out of documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from curator_core.sdk import ConfigError, ProcessingStage, TableBatch, report
from curator_text.checks import check_positive
from curator_text.modifiers.segments import repeat_rows
from curator_text.modifiers.text_modifier import with_text
from curator_text.privacy.reference_index import build_index, check_ngrams, compile_grams
from curator_text.privacy.reference_texts import list_references

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.sdk import Columns, WorkerInfo
    from curator_text.privacy.reference_index import GramIndex

__all__ = ["RemoveContamination", "cut_out"]

_SENTENCE_END = re.compile(r"[.!?]")


@dataclass
class RemoveContamination(ProcessingStage[TableBatch, TableBatch]):
    """Cut out the n-grams that documents share with benchmark sets, with the text around them; keep the rest.

    As for GPT-3 (Brown et al. 2020, appendix C) and NeMo Curator's former ``TaskDecontamination``: 200 characters to
    either side go too, and on to the end of the sentence; each piece that is left becomes a row of its own; pieces of
    less than 200 characters go, and so does a document that falls into more than ten pieces. See
    ``text.decontaminate`` for which n-grams count.

    >>> import tempfile, pathlib
    >>> from curator_text import DocumentBatch
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "quiz.txt"
    >>> _ = file.write_text("a b c d e f g h i j k l m")
    >>> batch = DocumentBatch(data={"text": ["Before it. Here: a b c d e f g h i j k l m! After it.", "Clean."]})
    >>> stage = RemoveContamination(references=str(file), window=0, min_length=5)
    >>> stage.process(batch).data.to_pydict()
    {'text': ['Before it.', ' After it.', 'Clean.'], 'segment_id': [0, 1, 0]}

    Args:
        references: The benchmark sets, as for ``text.decontaminate``.
        reference_columns: Columns of the references to compare with; all that hold text, where None.
        ngrams: Words of an n-gram.
        min_words: Entries of fewer words are not looked for; those shorter than ``ngrams`` only as a whole.
        window: Characters to remove on either side of a match, before the end of the sentence is looked for.
        min_length: Minimum number of characters of a piece to keep it.
        max_pieces: A document that falls into more pieces is dropped.
        counts: Folder that ``text.count_contamination`` has written; see ``text.decontaminate``.
        max_matches: In how many documents an n-gram may occur and still count, where ``counts`` is given.
        text_column: Column with the text.
        segment_id_column: Column for the number of a piece in its document, from 0.
    """

    references: str | list[str] | dict[str, str | list[str]]
    reference_columns: list[str] | None = None
    ngrams: int = 13
    min_words: int = 8
    window: int = 200
    min_length: int = 200
    max_pieces: int = 10
    counts: str | None = None
    max_matches: int = 10
    text_column: str = "text"
    segment_id_column: str = "segment_id"

    name = "text.remove_contamination"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True
    setup_on_node = compile_grams

    def __post_init__(self) -> None:
        check_ngrams(self.name, ngrams=self.ngrams, min_words=self.min_words)
        check_positive(self.name, max_pieces=self.max_pieces)
        if self.window < 0:
            raise ConfigError(f"{self.name}: window must be at least 0, got {self.window}")

    def preflight(self) -> None:
        """Find the benchmark files, so that a missing one ends the run before it starts."""
        list_references(self.references)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the benchmark sets."""
        _ = self._index

    def teardown(self) -> None:
        """Forget the benchmark sets."""
        self.__dict__.pop("_index", None)

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.segment_id_column]

    def process(self, task: TableBatch) -> TableBatch:
        texts = task.text(self.text_column)
        found = self._index.matches(texts)
        spans = pl.DataFrame({"row": found.row, "begin": found.begin, "end": found.end})
        grouped = spans.group_by("row", maintain_order=True).agg("begin", "end")
        pieces = {
            row: self._pieces(texts[row], zip(begins, ends, strict=True)) for row, begins, ends in grouped.iter_rows()
        }
        if not pieces:
            return task.with_column(self.segment_id_column, pl.repeat(0, task.num_rows, eager=True, dtype=pl.Int64))
        rows = pl.int_range(len(texts), eager=True, dtype=pl.Int64).alias("row")
        clean = pl.DataFrame([rows, texts.alias("text")]).filter(~rows.is_in(list(pieces)))
        parts = [(row, part) for row, kept in pieces.items() for part in kept]
        cut = pl.DataFrame(parts, schema={"row": pl.Int64, "text": pl.String}, orient="row")
        out = pl.concat([clean, cut]).sort("row", maintain_order=True)
        out = out.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("row").alias("number"))
        repeated = with_text(repeat_rows(task, out["row"], self.text_column), self.text_column, out["text"])
        return repeated.with_column(self.segment_id_column, out["number"])

    @cached_property
    def _index(self) -> GramIndex:
        return build_index(
            self.references,
            ngrams=self.ngrams,
            min_words=self.min_words,
            columns=self.reference_columns,
            counts=self.counts,
            max_matches=self.max_matches,
            stage=self.name,
        )

    def _pieces(self, text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
        kept = cut_out(text, spans, window=self.window)
        long_enough = [piece for piece in kept if len(piece) >= self.min_length]
        if len(long_enough) > self.max_pieces:
            report().drop("contaminated: too many pieces")
            return []
        if not long_enough:
            report().drop("contaminated: nothing left")
        return long_enough


def cut_out(text: str, spans: Iterable[tuple[int, int]], *, window: int) -> list[str]:
    """Return the rest of a text without some spans, the characters around them and the rest of their sentences.

    >>> cut_out("One. Two three. Four five! Six.", [(5, 8)], window=0)
    ['One.', ' Four five! Six.']

    Args:
        text: The text.
        spans: First byte and end of each span, in UTF-8, in order.
        window: Characters to remove on either side.
    """
    data = text.encode("utf-8")
    pieces = []
    position = seen_bytes = seen = 0
    for begin, end in spans:
        seen += len(data[seen_bytes:begin].decode("utf-8"))
        seen_bytes = begin
        first, last = seen - window, seen + len(data[begin:end].decode("utf-8")) + window
        sentences = list(_SENTENCE_END.finditer(text, position, max(position, first)))
        if sentences:
            pieces.append(text[position : sentences[-1].end()])
        after = _SENTENCE_END.search(text, last)
        position = max(position, after.end() if after else len(text))
    return [piece for piece in (*pieces, text[position:]) if piece]
