"""Drop documents that are too short or too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict, check_range
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Length"]


@dataclass
class Length(Filter):
    """Keep documents of ``min_length`` to ``max_length`` bytes, characters or words.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["größer", "groß"]})
    >>> Length(unit="bytes", max_length=5).process(batch).data["text"].to_pylist()
    ['groß']

    Args:
        unit: What to count: ``bytes`` of UTF-8, ``chars`` (code points) or ``words`` (between whitespace).
        min_length: Fewest to keep a document; None is no limit.
        max_length: Most to keep a document; None is no limit.
        text_field: Column with the text.
    """

    unit: Literal["bytes", "chars", "words"] = "chars"
    min_length: int | None = None
    max_length: int | None = None
    text_field: str = "text"

    name = "text.length"

    def __post_init__(self) -> None:
        if self.min_length is None and self.max_length is None:
            raise ConfigError(f"{self.name}: no limit is given", fix="e.g. min_length: 200")
        check_range(self.name, min_length=self.min_length, max_length=self.max_length)

    def judge(self, batch: TableBatch) -> Verdict:
        texts = batch.text(self.text_field)
        if self.unit == "words":
            size = SURFACE.of(batch, self.text_field)["words"]
        else:
            size = texts.str.len_bytes() if self.unit == "bytes" else texts.str.len_chars()
        return Verdict.between(
            size.cast(pl.Int64), self.min_length, self.max_length, below="too_short", above="too_long"
        )
