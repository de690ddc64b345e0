"""Drop documents made of symbols and spaces more than of letters and digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.errors import ConfigError
from curator_core.filter import Filter, Verdict
from curator_text.content_characters import non_content_shares

if TYPE_CHECKING:
    from curator_core.tasks import TableBatch

__all__ = ["NonAlphaNumeric"]


@dataclass
class NonAlphaNumeric(Filter):
    """Keep documents of which at most ``max_share`` of the characters are not alphanumeric.

    Alphanumeric are the letters, combining marks and numbers of every script, and the newline and ``? ! , .``; all
    else, spaces included, is not. Characters are code points. On ASCII text the share is that of NeMo Curator's
    ``NonAlphaNumericFilter``, whose default this is; that filter counts all other letters as symbols and so drops most
    languages. An empty document has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["### --- ###", "Plain words."]})
    >>> NonAlphaNumeric().process(batch).data["text"].to_pylist()
    ['Plain words.']

    Args:
        max_share: Largest share to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.25
    text_field: str = "text"

    name = "text.non_alpha_numeric"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.max_share <= 1:
            raise ConfigError(f"text.non_alpha_numeric: max_share must be between 0 and 1, got {self.max_share}")

    def judge(self, batch: TableBatch) -> Verdict:
        share = non_content_shares(batch.text(self.text_field))
        return Verdict(share, {"too_many_symbols": share > self.max_share})
