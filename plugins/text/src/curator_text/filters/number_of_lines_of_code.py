"""Drop source files with too few or too many lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import check_range
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.metrics.surface import SURFACE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NumberOfLinesOfCode"]


@dataclass
class NumberOfLinesOfCode(RuleFilter):
    r"""Keep files of ``min_lines`` to ``max_lines`` lines.

    The number of lines is that of newlines and one more, as in NeMo Curator's ``NumberOfLinesOfCodeFilter``; blank
    lines and comments count, and an empty file has one line.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["one line", "x = 1\n" * 10]})
    >>> len(NumberOfLinesOfCode().process(batch).data)
    1

    Args:
        min_lines: Fewest lines to keep a file.
        max_lines: Most lines to keep a file.
        text_field: Column with the text.
    """

    min_lines: int = 10
    max_lines: int = 20_000

    name = "text.number_of_lines_of_code"

    def __post_init__(self) -> None:
        check_range(self.name, min_lines=self.min_lines, max_lines=self.max_lines)

    def score(self) -> pl.Expr:
        return pl.col("newlines") + 1

    def rules(self) -> Sequence[Rule]:
        return [
            Rule("too_few_lines", SURFACE, self.score() < self.min_lines),
            Rule("too_many_lines", SURFACE, self.score() > self.max_lines),
        ]
