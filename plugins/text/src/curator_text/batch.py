"""The task type of text: rows are documents."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.sdk import TableBatch

__all__ = ["DocumentBatch"]


@dataclass
class DocumentBatch(TableBatch):
    """A table of documents, one a row, with the text in a string column (``text`` unless a stage names another).

    >>> DocumentBatch(data={"text": ["one", "two"]}).num_rows
    2
    """
