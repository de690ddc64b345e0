"""Write documents as training examples for fastText."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from curator_core.sdk import ConfigError
from curator_text.modifiers.text_modifier import TextModifier

__all__ = ["FasttextLabel"]


@dataclass
class FasttextLabel(TextModifier):
    r"""Put a label in front of each document and the document on one line, as fastText's training expects it.

    This is NeMo Curator's ``FastTextLabelModifier``: newlines and ``__label__`` inside the text become spaces.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Two\nlines."]})
    >>> FasttextLabel(label="__label__good").process(batch).data["text"].to_pylist()
    ['__label__good Two lines.']

    Args:
        label: The label, with its ``__label__``.
        text_column: Column with the text.
    """

    label: str

    name = "text.fasttext_label"

    def __post_init__(self) -> None:
        if not self.label or any(each.isspace() for each in self.label):
            raise ConfigError(
                f"{self.name}: label must have at least one character and no spaces, got {self.label!r}",
                fix="e.g. label: __label__good",
            )

    def rewrite(self, texts: pl.Series) -> pl.Series:
        flat = texts.str.replace_all("\n", " ", literal=True).str.replace_all("__label__", " ", literal=True)
        return pl.select(pl.concat_str(pl.lit(f"{self.label} "), flat)).to_series()
