"""The base of stages that change text: a subclass rewrites a column, this class finds it and puts it back."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import ProcessingStage, TableBatch
from curator_text.modifiers.text_column import with_text

if TYPE_CHECKING:
    import polars as pl

    from curator_core.sdk import Columns

__all__ = ["TextModifier"]


@dataclass
class TextModifier(ProcessingStage[TableBatch, TableBatch]):
    """Change the text of every row by itself; nulls stay null.

    >>> from curator_text import DocumentBatch
    >>> @dataclass
    ... class Shout(TextModifier):
    ...     def rewrite(self, texts):
    ...         return texts.str.to_uppercase()
    >>> Shout().process(DocumentBatch(data={"text": ["hello", None]})).data["text"].to_pylist()
    ['HELLO', None]

    Args:
        text_field: Column with the text.
    """

    text_field: str = field(default="text", kw_only=True)

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    @abstractmethod
    def rewrite(self, texts: pl.Series) -> pl.Series:
        """Return the new texts: one per row, null where the old one is null."""

    def inputs(self) -> Columns:
        return [self.text_field]

    def process(self, task: TableBatch) -> TableBatch:
        """Replace the text column; the others are shared."""
        return with_text(task, self.text_field, self.rewrite(task.text(self.text_field)))
