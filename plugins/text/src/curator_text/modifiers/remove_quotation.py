"""Remove the quotation marks around a whole document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.modifiers.text_column import rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RemoveQuotation"]

_QUOTED_LINE = r'\A"[^\n]+"\z'
_QUOTED_LINES = r'\A"[^\n]*[^\n"]\n(?s:.*)"\z'
"""Several lines in one pair of marks: where the first line ends with a mark, it is a quotation of its own."""


@dataclass
class RemoveQuotation(TextModifier):
    r"""Remove the quotation marks around a document that begins and ends with ``"``.

    This is NeMo Curator's ``QuotationRemover``: in a document of several lines, only where the first line does not end
    with a mark, and never where nothing but the marks would be left.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ['"All of it."', '"One," he said. "Two."', '"First."\n"Second."']})
    >>> RemoveQuotation().process(batch).data["text"].to_pylist()
    ['All of it.', 'One," he said. "Two.', '"First."\n"Second."']

    Args:
        text_field: Column with the text.
    """

    name = "text.remove_quotation"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        return rewrite_matching(
            texts, f"{_QUOTED_LINE}|{_QUOTED_LINES}", lambda rows: rows.str.strip_prefix('"').str.strip_suffix('"')
        )
