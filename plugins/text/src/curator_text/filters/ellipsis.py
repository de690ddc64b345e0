"""Drop documents in which many lines trail off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Ellipsis"]


@dataclass
class Ellipsis(RuleFilter):  # noqa: A001 - the name that people know; the builtin is ... here
    r"""Keep documents of which at most ``max_share`` of the lines end with an ellipsis.

    Ellipses are ``... … [...] […] (...) -»`` and ``read more`` in any case, as in NeMo Curator's ``EllipsisFilter``,
    after Gopher (Rae et al. 2021, appendix A.1.1). Blank lines do not count, and white space at the end of a line is
    skipped. A document without lines has share one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["News ...\nRead More", "Well...\nA\nB\nC"]})
    >>> Ellipsis().process(batch).data["text"].to_pylist()
    ['Well...\nA\nB\nC']

    Args:
        max_share: Largest share of lines with an ellipsis to keep a document, from 0 to 1.
        text_field: Column with the text.
    """

    max_share: float = 0.3

    name = "text.ellipsis"

    def __post_init__(self) -> None:
        check_share(self.name, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return share("ellipsis_lines", "lines", of_nothing=1.0)

    def rules(self) -> Sequence[Rule]:
        return [Rule("too_many_ellipses", SURFACE, self.score() > self.max_share)]
