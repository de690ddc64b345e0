"""Drop documents that repeat benchmark questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, Verdict
from curator_text.checks import check_fraction, check_positive
from curator_text.privacy.reference_index import build_index, check_ngrams, compile_grams
from curator_text.privacy.reference_texts import list_references

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch, WorkerInfo
    from curator_text.privacy.reference_index import GramIndex

__all__ = ["Decontaminate"]


@dataclass
class Decontaminate(Filter):
    """Drop documents that share n-grams of words with benchmark sets, which you supply.

    As for GPT-3 (Brown et al. 2020, appendix C): words in lower case without punctuation, n-grams of 13 words. In
    scripts that put no spaces between words, each character counts as a word. The reason names the benchmark with most
    matches (``contaminated: gsm8k``), the score is the number of matching n-grams. ``text.remove_contamination`` cuts
    the matches out instead of dropping the document.

    >>> import tempfile, pathlib
    >>> from curator_text import DocumentBatch
    >>> question = "How many apples does Ann have if she buys three and gives two away?"
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "school.txt"
    >>> _ = file.write_text(question)
    >>> batch = DocumentBatch(data={"text": [f"Quiz! {question.upper()}", "Ann buys apples."]})
    >>> Decontaminate(references=str(file)).process(batch).data["text"].to_pylist()
    ['Ann buys apples.']

    Args:
        references: Files, folders, globs or URLs of benchmark sets (JSONL, Parquet, CSV, Arrow, or text with one entry
            on a line), or for each benchmark's name its files. Unless named, a benchmark is called as its file.
        reference_columns: Columns of the references to compare with; all that hold text or lists of text, where None.
        ngrams: Words of an n-gram.
        min_words: Entries of fewer words are not looked for; those shorter than ``ngrams`` only as a whole.
        min_matches: How many n-grams have to match to drop a document.
        min_fraction: Smallest fraction of a document's n-grams that has to match to drop it.
        counts: Folder that ``text.count_contamination`` has written for the whole corpus. N-grams in more than
            ``max_matches`` documents are common phrases and do not count.
        max_matches: In how many documents an n-gram may occur and still count, where ``counts`` is given.
        text_column: Column with the text.
    """

    references: str | list[str] | dict[str, str | list[str]]
    reference_columns: list[str] | None = None
    ngrams: int = 13
    min_words: int = 8
    min_matches: int = 1
    min_fraction: float = 0.0
    counts: str | None = None
    max_matches: int = 10
    text_column: str = "text"

    name = "text.decontaminate"
    setup_on_node = compile_grams

    def __post_init__(self) -> None:
        check_ngrams(self.name, ngrams=self.ngrams, min_words=self.min_words)
        check_positive(self.name, min_matches=self.min_matches)
        check_fraction(self.name, min_fraction=self.min_fraction)

    def preflight(self) -> None:
        """Find the benchmark files, so that a missing one ends the run before it starts."""
        list_references(self.references)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the benchmark sets."""
        _ = self._index

    def teardown(self) -> None:
        """Forget the benchmark sets."""
        self.__dict__.pop("_index", None)

    def judge(self, batch: TableBatch) -> Verdict:
        index = self._index
        texts = batch.text(self.text_column)
        found = index.judge(texts)
        grams = (found["words"] - self.ngrams + 1).clip(1)
        is_dropped = (found["matches"] >= self.min_matches) & (found["matches"] / grams >= self.min_fraction)
        reasons = {
            f"contaminated: {index.names[owner]}": is_dropped & (found["owner"] == owner)
            for owner in found["owner"].unique().sort().to_list()
            if owner >= 0
        }
        return Verdict(pl.select(pl.when(texts.is_not_null()).then(found["matches"])).to_series(), reasons)

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
