"""Drop documents with links to pornography."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, Verdict

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["PornographicUrls"]

_URL_WITH_PORN = r"https?://[!$-_a-z]*porn"
"""The characters are those of the URL pattern of NeMo Curator, in which ``$-_`` is a range."""


@dataclass
class PornographicUrls(Filter):
    """Drop documents in which some URL holds the letters "porn".

    This is NeMo Curator's ``PornographicUrlsFilter``; the addresses it looks at are those in the text. For the address
    a document came from, see ``text.url_blocklist``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["see http://porn.example/", "pornography is a word"]})
    >>> PornographicUrls().process(batch).data["text"].to_pylist()
    ['pornography is a word']

    Args:
        text_field: Column with the text.
    """

    text_field: str = "text"

    name = "text.pornographic_urls"

    def judge(self, batch: TableBatch) -> Verdict:
        found = batch.text(self.text_field).str.contains(_URL_WITH_PORN)
        return Verdict(found.cast(pl.Int64), {"pornographic_url": found})
