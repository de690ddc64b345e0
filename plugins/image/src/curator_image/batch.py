"""The task type of images: rows are pictures."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.sdk import TableBatch

__all__ = ["ImageBatch"]


@dataclass
class ImageBatch(TableBatch):
    """A table of images, one a row: the encoded file in a binary column (``bytes``), captions and scores beside it.

    >>> ImageBatch(data={"uri": ["cat.jpg"], "bytes": [b"..."], "caption": ["a cat"]}).num_rows
    1
    """
