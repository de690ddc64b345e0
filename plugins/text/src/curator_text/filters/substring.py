"""Keep documents that hold a given string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Substring"]


@dataclass
class Substring(Filter):
    """Keep documents that hold a string at their beginning, at their end or anywhere; ``invert`` drops those.

    This is NeMo Curator's ``SubstringFilter``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Chapter 1", "In chapter 1"]})
    >>> Substring("Chapter", position="prefix").process(batch).data["text"].to_pylist()
    ['Chapter 1']

    Args:
        substring: The string, taken as it is.
        position: Where it has to be.
        text_field: Column with the text.
    """

    substring: str
    position: Literal["prefix", "suffix", "any"] = "any"
    text_field: str = "text"

    name = "text.substring"

    def __post_init__(self) -> None:
        if not self.substring:
            raise ConfigError(f"{self.name}: every text holds the empty string", fix="give at least one character")

    def judge(self, batch: TableBatch) -> Verdict:
        text = batch.text(self.text_field).str
        if self.position == "prefix":
            found = text.starts_with(self.substring)
        elif self.position == "suffix":
            found = text.ends_with(self.substring)
        else:
            found = text.contains(self.substring, literal=True)
        return Verdict(found.cast(pl.Int64), {"no_substring": ~found})
