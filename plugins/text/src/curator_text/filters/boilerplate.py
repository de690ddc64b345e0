"""Drop documents of cookie banners, policies and placeholder text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, Verdict
from curator_text.checks import check_fraction
from curator_text.filters.rules import ratio
from curator_text.metrics.boilerplate_strings import BOILERPLATE

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch

__all__ = ["BoilerPlateString"]


@dataclass
class BoilerPlateString(Filter):
    r"""Keep documents in which at most ``max_fraction`` of the paragraphs hold a boilerplate phrase.

    Paragraphs are cut at two newlines. The phrases, of privacy policies, terms of use and cookie banners, are those of
    NeMo Curator's ``BoilerPlateStringFilter`` (:data:`curator_text.metrics.boilerplate_strings.STRINGS`), in any case;
    a document with "lorem ipsum" scores one. NeMo Curator's option for phrases at the top or bottom has no effect
    there, and is left out.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Welcome\n\nThis site uses cookies.", "Cookies, home-made"]})
    >>> BoilerPlateString().process(batch).data["text"].to_pylist()
    ['Cookies, home-made']

    Args:
        max_fraction: Largest fraction of paragraphs with a phrase to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.4
    text_column: str = "text"

    name = "text.boiler_plate_string"

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        BOILERPLATE.prepare()

    def judge(self, batch: TableBatch) -> Verdict:
        found_in = ratio("boilerplate_paragraphs", "paragraphs", of_nothing=0.0)
        score = pl.when(pl.col("placeholders") > 0).then(1.0).otherwise(found_in)
        found = BOILERPLATE.score(batch, self.text_column, score)
        return Verdict(found, {"boilerplate": found > self.max_fraction})
