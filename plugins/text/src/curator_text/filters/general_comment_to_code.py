"""Drop source files of many languages with too few or too many comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import UnknownNameError, check_range
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import share
from curator_text.metrics.code_comments import FAMILIES, code_comments

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GeneralCommentToCode"]

MALFORMED_SCORE = 9999.0
"""What NeMo Curator gives a file whose comments cannot be found."""


@dataclass
class GeneralCommentToCode(RuleFilter):
    """Keep source files of which ``min_share`` to ``max_share`` of the characters are comments.

    The marks around comments (``//``, ``/* */``, ``#``, ``<!-- -->``) do not count. Comments are found by the rules of
    the ``comment_parser`` package, which NeMo Curator's ``GeneralCommentToCodeFilter`` uses. A file with a comment that
    does not end (in Python: that cannot be tokenized) scores 9999 and is dropped as ``malformed``. An empty file has
    share zero; NeMo Curator raises. A language that is not known is refused at once; NeMo Curator drops every file.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = 1;", "x = 1; // one", "/* one"]})
    >>> GeneralCommentToCode("c++").process(batch).data["text"].to_pylist()
    ['x = 1; // one']

    Args:
        language: One of c, c++, c#, go, html, java, javascript, python, ruby, shell and xml, or its MIME type as
            ``comment_parser`` writes it: text/x-c, text/x-c++, text/x-go, text/html, text/x-java, text/x-java-source,
            application/javascript, text/x-javascript, text/x-python, text/x-script.python, text/x-ruby,
            text/x-shellscript, text/xml.
        min_share: Smallest share to keep a file.
        max_share: Largest share to keep a file.
        text_field: Column with the source code.
    """

    language: str
    min_share: float = 0.01
    max_share: float = 0.85

    name = "text.general_comment_to_code"

    def __post_init__(self) -> None:
        if self.language not in FAMILIES:
            raise UnknownNameError("language", self.language, list(FAMILIES))
        check_range(self.name, min_share=self.min_share, max_share=self.max_share)

    def score(self) -> pl.Expr:
        found = share("comment_chars", "chars", of_nothing=0.0)
        return pl.when(pl.col("comment_chars") < 0).then(MALFORMED_SCORE).otherwise(found)

    def rules(self) -> Sequence[Rule]:
        comments = code_comments(self.language)
        return [
            Rule("malformed", comments, pl.col("comment_chars") < 0),
            Rule("too_few_comments", comments, self.score() < self.min_share),
            Rule("too_many_comments", comments, self.score() > self.max_share),
        ]
