"""Numbers of source files: characters in comments, lines, letters, and the value of a function of a file."""

from __future__ import annotations

import io
import tokenize
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["CODE_LINES", "FAMILIES", "code_comments", "per_document", "python_comment_chars"]

_PYTHON = "PYTHON"
_NAMES = {
    "C": "c c++ c# java text/x-c text/x-c++ text/x-java text/x-java-source",
    "GO": "go text/x-go",
    "HTML": "html xml text/html text/xml",
    "JAVASCRIPT": "javascript application/javascript text/x-javascript",
    _PYTHON: "python text/x-python text/x-script.python",
    "RUBY": "ruby text/x-ruby",
    "SHELL": "shell text/x-shellscript",
}
FAMILIES = {name: family for family, names in _NAMES.items() for name in names.split()}
"""The languages whose comments are known: short names, and the MIME types of the ``comment_parser`` package."""


@cache
def code_comments(language: str) -> MetricGroup:
    """Return the group of ``chars`` and ``comment_chars`` for a language of :data:`FAMILIES`.

    Comments count without the marks around them, joined by single spaces. ``comment_chars`` is -1 where a comment does
    not end, or a Python file cannot be tokenized.

    >>> import polars as pl
    >>> code_comments("c").of_texts(pl.Series(["x(); // a" + chr(10) + "/* b */", "/*"]))["comment_chars"].to_list()
    [6, -1]
    """
    family = FAMILIES[language]

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        counts = np.zeros((2, texts.num_documents), dtype=np.int64)
        if family == _PYTHON:
            found = [(len(text), python_comment_chars(text)) for text in texts.texts_to_measure()]
            counts[:, texts.rows_to_measure] = np.array(found, dtype=np.int64).reshape(-1, 2).T
        else:
            from curator_text.kernels import code_comments as kernel

            number = getattr(kernel, family)
            kernel.comment_chars(texts.data, texts.offsets, texts.rows_to_measure, number, counts)
        return {"chars": counts[0], "comment_chars": counts[1]}

    return MetricGroup(f"code_comments {family}", measure, compiled=True)


def python_comment_chars(source: str) -> int:
    """Return the characters of a Python file's comments without hash signs, joined by spaces; -1 if it is malformed.

    >>> python_comment_chars("x = 1  #one" + chr(10) + "#two")
    7
    """
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(source.encode()).readline))
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return -1
    lengths = [len(token.string) - 1 for token in tokens if token.type == tokenize.COMMENT]
    return sum(lengths) + max(len(lengths) - 1, 0)


_LINE_METRICS = ("chars", "lines", "longest_line", "letters", "ascii_content_chars")
_CONTENT = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\n?!,."
"""Alphanumeric characters of NeMo Curator (``regex_alphanum``)."""


def _measure_lines(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.code_lines import code_line_counts
    from curator_text.kernels.surface_tables import surface_tables

    is_content = np.isin(np.arange(256), list(_CONTENT))
    counts = np.zeros((len(_LINE_METRICS), texts.num_documents), dtype=np.int64)
    code_line_counts(texts.data, texts.offsets, texts.rows_to_measure, surface_tables().kinds, is_content, counts)
    return dict(zip(_LINE_METRICS, counts, strict=True))


CODE_LINES = MetricGroup("code_lines", _measure_lines, compiled=True)
"""Characters, lines (one more than newlines), those of the longest, letters (``str.isalpha``) and ASCII content."""


def per_document(name: str, function: Callable[[str], float]) -> MetricGroup:
    """Return a group with one metric, ``score``, that a function gives for every document.

    >>> import polars as pl
    >>> per_document("length", len).of_texts(pl.Series(["abc", None]))["score"].to_list()
    [3.0, None]
    """

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        scores = np.zeros(texts.num_documents)
        scores[texts.rows_to_measure] = [function(text) for text in texts.texts_to_measure()]
        return {"score": scores}

    return MetricGroup(name, measure)
