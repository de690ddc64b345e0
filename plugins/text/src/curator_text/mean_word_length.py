"""Drop documents whose words are too short or too long on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.filter import Filter, Verdict, check_range
from curator_text.words import mean_word_lengths

if TYPE_CHECKING:
    from curator_core.tasks import TableBatch

__all__ = ["MeanWordLength"]


@dataclass
class MeanWordLength(Filter):
    """Keep documents whose mean word length, in characters, is between ``min_length`` and ``max_length``.

    The defaults are those of Gopher (Rae et al. 2021, appendix A.1.1) and NeMo Curator's ``MeanWordLengthFilter``. A
    document without words has mean length zero.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a b c d", "words of common length"]})
    >>> MeanWordLength().process(batch).data["text"].to_pylist()
    ['words of common length']

    Args:
        min_length: Shortest mean to keep a document.
        max_length: Longest mean to keep a document.
        text_field: Column with the text.
    """

    min_length: float = 3.0
    max_length: float = 10.0
    text_field: str = "text"

    name = "text.mean_word_length"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_range(self.name, min_length=self.min_length, max_length=self.max_length)

    def judge(self, batch: TableBatch) -> Verdict:
        length = mean_word_lengths(batch.text(self.text_field))
        limits = self.min_length, self.max_length
        return Verdict.between(length, *limits, below="mean_word_too_short", above="mean_word_too_long")
