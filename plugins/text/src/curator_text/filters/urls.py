"""Drop documents that are addresses for a large part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.addresses import addresses, check_regex
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Urls"]


@dataclass
class Urls(RuleFilter):
    r"""Keep documents of which at most ``max_share`` of the characters are in URLs.

    A URL is ``http://`` or ``https://`` and all that follows of ASCII letters, digits, ``$-_@.&+/:=?#~!*(),`` and
    percent signs with two hexadecimal digits, as in NeMo Curator's ``UrlsFilter``. An empty document has share one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["https://example.org/", "Read https://a.io/ if you have the time"]})
    >>> Urls(max_share=0.4).process(batch).data["text"].to_pylist()
    ['Read https://a.io/ if you have the time']

    Args:
        max_share: Largest share of characters in URLs to keep a document, from 0 to 1.
        url_regex: What a URL is, instead, in the syntax of Rust's regex crate: ``https?://[^\s"'<>]+``. Whole matches
            count, whatever the groups.
        text_field: Column with the text.
    """

    max_share: float = 0.2
    url_regex: str | None = None

    name = "text.urls"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)
        if self.url_regex is not None:
            check_regex(self.name, "url_regex", self.url_regex)

    def score(self) -> pl.Expr:
        return share("url_chars", "chars", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        group = SURFACE if self.url_regex is None else addresses(self.url_regex)
        return [Rule("too_many_urls", group, self.score() > self.max_share)]
