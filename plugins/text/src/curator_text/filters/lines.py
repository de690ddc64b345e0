"""Drop documents by how their lines begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, Verdict
from curator_text.checks import check_fraction
from curator_text.filters.rules import ratio
from curator_text.metrics.surface import SURFACE, compile_surface

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["Bullets", "Ellipsis", "Punctuation"]


@dataclass
class Bullets(Filter):
    r"""Keep documents in which at most ``max_fraction`` of the lines start with a bullet.

    Blank lines do not count; white space before the bullet is skipped. Bullets are the twelve characters of NeMo
    Curator's ``BulletsFilter``, after Gopher (Rae et al. 2021, appendix A.1.1); hyphens and asterisks are none. A
    document without lines scores one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["• one\n• two", "A list:\n• one"]})
    >>> Bullets().process(batch).data["text"].to_pylist()
    ['A list:\n• one']

    Args:
        max_fraction: Largest fraction of lines with a bullet to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.9
    text_column: str = "text"

    name = "text.bullets"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("bullet_lines", "lines", of_nothing=1.0))
        return Verdict(found, {"too_many_bullets": found > self.max_fraction})


@dataclass
class Ellipsis(Filter):  # noqa: A001 - the name that people know; the builtin is ... here
    r"""Keep documents in which at most ``max_fraction`` of the lines end with an ellipsis.

    Ellipses are ``... … [...] […] (...) -»`` and ``read more`` in any case, as in NeMo Curator's ``EllipsisFilter``,
    after Gopher (Rae et al. 2021, appendix A.1.1). Blank lines do not count, and white space at the end of a line is
    skipped. A document without lines scores one; NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["News ...\nRead More", "Well...\nA\nB\nC"]})
    >>> Ellipsis().process(batch).data["text"].to_pylist()
    ['Well...\nA\nB\nC']

    Args:
        max_fraction: Largest fraction of lines with an ellipsis to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.3
    text_column: str = "text"

    name = "text.ellipsis"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("ellipsis_lines", "lines", of_nothing=1.0))
        return Verdict(found, {"too_many_ellipses": found > self.max_fraction})


@dataclass
class Punctuation(Filter):
    r"""Keep documents in which at most ``max_fraction`` of the lines have no end mark.

    End marks are ``. ? ! " '`` (C4, Raffel et al. 2020, section 2.2). Blank lines do not count, and white space at the
    end of a line is skipped. This is NeMo Curator's ``PunctuationFilter``. A document without lines scores one; NeMo
    Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Home\nAbout us", "A sentence.\nMenu"]})
    >>> Punctuation().process(batch).data["text"].to_pylist()
    ['A sentence.\nMenu']

    Args:
        max_fraction: Largest fraction of lines without an end mark to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.85
    text_column: str = "text"

    name = "text.punctuation"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(
            batch, self.text_column, ratio(pl.col("lines") - pl.col("ended_lines"), "lines", of_nothing=1.0)
        )
        return Verdict(found, {"too_few_end_marks": found > self.max_fraction})
