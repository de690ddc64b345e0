"""Drop Python files with too few or too many comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import check_range
from curator_text.code.python_comments import comment_share
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.metrics.per_document import per_document

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PythonCommentToCode"]

_COMMENTS = per_document("python_comments", comment_share)


@dataclass
class PythonCommentToCode(RuleFilter):
    r"""Keep Python files of which ``min_share`` to ``max_share`` of the characters are comments and docstrings.

    Python's own tokenizer and parser find them, those of the Python that runs this; a file that they refuse, and an
    empty one, has share zero. This is NeMo Curator's ``PythonCommentToCodeFilter``, which raises on an empty file.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = 1\n", "# The answer.\nx = 42\n", "x = ("]})
    >>> PythonCommentToCode().process(batch).data["text"].to_pylist()
    ['# The answer.\nx = 42\n']

    Args:
        min_share: Smallest share to keep a file.
        max_share: Largest share to keep a file.
        text_field: Column with the source code.
    """

    min_share: float = 0.01
    max_share: float = 0.85

    name = "text.python_comment_to_code"

    def __post_init__(self) -> None:
        check_range(self.name, min_share=self.min_share, max_share=self.max_share)

    def score(self) -> pl.Expr:
        return pl.col("score")

    def rules(self) -> Sequence[Rule]:
        return [
            Rule("too_few_comments", _COMMENTS, self.score() < self.min_share),
            Rule("too_many_comments", _COMMENTS, self.score() > self.max_share),
        ]
