"""Remove web addresses from text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.modifiers.text_column import rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

if TYPE_CHECKING:
    import polars as pl

__all__ = ["URL", "RemoveUrls"]

URL = r"(?i:(?:https?|s?ftps?)://|www\.)[^\s\x1c-\x1f]+"
"""What begins like an address, up to the next whitespace, as NeMo Curator's ``UrlRemover`` sees it; of FTP, too."""


@dataclass
class RemoveUrls(TextModifier):
    """Remove everything that begins with ``http://``, ``https://``, ``ftp://`` or ``www.``, up to the next whitespace.

    With default parameters this is NeMo Curator's ``UrlRemover``, which knows no FTP and leaves the beginning of
    ``ftp://www.…``: marks that follow an address go with it, and the spaces around it stay.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["See https://example.org/a?b=1 and www.example.com."]})
    >>> RemoveUrls().process(batch).data["text"].to_pylist()
    ['See  and ']
    >>> RemoveUrls(replacement="<url>").process(batch).data["text"].to_pylist()
    ['See <url> and <url>']

    Args:
        replacement: Text to put in place of each address.
        text_field: Column with the text.
    """

    replacement: str = ""

    name = "text.remove_urls"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        plain = self.replacement.replace("$", "$$")
        return rewrite_matching(texts, r"(?i:://|www\.)", lambda rows: rows.str.replace_all(URL, plain))
