"""Remove cookie notices, terms of use and the like from the top and the bottom of documents."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from curator_core.sdk import ConfigError
from curator_text.modifiers.text_column import keep_pieces, rewrite_rows
from curator_text.modifiers.text_modifier import TextModifier

__all__ = ["BOILERPLATE_PHRASES", "RemoveBoilerplate"]

BOILERPLATE_PHRASES = (
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
    "privacy overview",
    "privacy & cookies policy",
    "privacy and cookies policy",
    "necessary cookies are absolutely essential",
    "cookies that may not be particularly necessary",
    "without changing your cookie settings",
)
"""Phrases of paragraphs that are not content: the ``policy_substrings`` of C4 (Raffel et al. 2020) as NeMo Curator
extends them. Of its long sentences, the part that tells them apart is given."""
_FILLER = "lorem ipsum"


@dataclass
class RemoveBoilerplate(TextModifier):
    r"""Remove paragraphs with phrases such as "privacy policy" where they stand at the top or the bottom.

    NeMo Curator's ``BoilerPlateStringModifier``: paragraphs are parted by an empty line, upper and lower case are
    equal, and a document that is all boilerplate, or has some in its middle, is left as it is, for a filter to judge.
    It leaves a document with boilerplate at both ends alone too; here both ends are removed. A document with "lorem
    ipsum" becomes empty.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["This site uses cookies.\n\nThe text.\n\nRead our privacy policy."]})
    >>> RemoveBoilerplate().process(batch).data["text"].to_pylist()
    ['The text.']

    Args:
        remove_if_at_top_or_bottom: Remove only such paragraphs; else a document with any boilerplate becomes empty.
        phrases: Phrases to look for, in lower case.
        lorem_ipsum: Empty documents that hold the filler text "lorem ipsum".
        text_field: Column with the text.
    """

    remove_if_at_top_or_bottom: bool = True
    phrases: list[str] = field(default_factory=lambda: list(BOILERPLATE_PHRASES))
    lorem_ipsum: bool = True

    name = "text.remove_boilerplate"

    def __post_init__(self) -> None:
        if not all(self.phrases) or any(phrase != phrase.lower() for phrase in self.phrases):
            raise ConfigError(f"{self.name}: phrases are given in lower case and are not empty")

    def rewrite(self, texts: pl.Series) -> pl.Series:
        if self.lorem_ipsum:
            texts = rewrite_rows(texts, self._mentions(texts, [_FILLER]), _emptied)
        found = self._mentions(texts, self.phrases)
        if not self.remove_if_at_top_or_bottom:
            return rewrite_rows(texts, found, _emptied)
        return rewrite_rows(texts, found, lambda rows: keep_pieces(rows, "\n\n", self._content))

    def _content(self, pieces: pl.DataFrame) -> pl.Series:
        """Mark the paragraphs to keep: all of them where boilerplate stands anywhere but at the ends."""
        is_content = ~self._mentions(pieces["piece"], self.phrases)
        judged = pieces.select("row").with_columns(is_content.alias("content"))
        from_top = pl.col("content").cum_max().over("row")
        from_bottom = pl.col("content").cum_max(reverse=True).over("row")
        inside = (from_top & from_bottom).alias("inside")
        judged = judged.with_columns(inside)
        removable = pl.col("content").any().over("row") & (pl.col("content") | ~pl.col("inside")).all().over("row")
        return judged.select((pl.col("content") | ~removable).alias("kept"))["kept"]

    @staticmethod
    def _mentions(texts: pl.Series, phrases: list[str]) -> pl.Series:
        is_ascii = all(phrase.isascii() for phrase in phrases)
        return (texts if is_ascii else texts.str.to_lowercase()).str.contains_any(
            phrases, ascii_case_insensitive=is_ascii
        )


def _emptied(rows: pl.Series) -> pl.Series:
    return pl.repeat("", len(rows), eager=True, dtype=pl.String)
