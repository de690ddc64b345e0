"""Drop documents in which nearly every line is a bullet point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Bullets"]


@dataclass
class Bullets(RuleFilter):
    r"""Keep documents of which at most ``max_share`` of the lines start with a bullet.

    Blank lines do not count; white space before the bullet is skipped. Bullets are the twelve characters of NeMo
    Curator's ``BulletsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1); hyphens and asterisks are none. A
    document without lines has share one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["• one\n• two", "A list:\n• one"]})
    >>> Bullets().process(batch).data["text"].to_pylist()
    ['A list:\n• one']

    Args:
        max_share: Largest share of lines with a bullet to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.9

    name = "text.bullets"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("bullet_lines", "lines", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_bullets", SURFACE, self.score() > self.max_share)]
