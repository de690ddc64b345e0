"""Drop documents with too few or too many words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.filter import Filter, Verdict, check_range
from curator_text.words import count_words

if TYPE_CHECKING:
    from curator_core.tasks import TableBatch

__all__ = ["WordCount"]


@dataclass
class WordCount(Filter):
    """Keep documents of ``min_words`` to ``max_words`` words; an empty document has none.

    The defaults are those of Gopher (Rae et al. 2021, appendix A.1.1) and NeMo Curator's ``WordCountFilter``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["too short", "long enough to be kept"]})
    >>> WordCount(min_words=3).process(batch).data["text"].to_pylist()
    ['long enough to be kept']

    Args:
        min_words: Fewest words to keep a document.
        max_words: Most words to keep a document.
        text_field: Column with the text.
    """

    min_words: int = 50
    max_words: int = 100_000
    text_field: str = "text"

    name = "text.word_count"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_range(self.name, min_words=self.min_words, max_words=self.max_words)

    def judge(self, batch: TableBatch) -> Verdict:
        words = count_words(batch.text(self.text_field))
        return Verdict.between(words, self.min_words, self.max_words, below="too_few_words", above="too_many_words")
