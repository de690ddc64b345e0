"""Drop source files: by their comments, their lines, or content other than code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import Filter, UnknownNameError, Verdict, check_range
from curator_text.checks import check_fraction, check_positive
from curator_text.code.html_text import text_fraction
from curator_text.code.python_comments import comment_fraction
from curator_text.filters.rules import ratio
from curator_text.metrics.code import FAMILIES, code_comments, per_document
from curator_text.metrics.surface import SURFACE, compile_surface

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch

__all__ = [
    "Alpha",
    "GeneralCommentToCode",
    "HtmlBoilerplate",
    "NumberOfLinesOfCode",
    "PythonCommentToCode",
    "XmlHeader",
]

MALFORMED_SCORE = 9999.0
"""The score of NeMo Curator for a file whose comments cannot be found."""
_PYTHON_COMMENTS = per_document("python_comments", comment_fraction)
_XML_HEADER = "<?xml version="


@dataclass
class PythonCommentToCode(Filter):
    r"""Keep Python files in which ``min_fraction`` to ``max_fraction`` of the characters are comments and docstrings.

    Python's own tokenizer and parser find them, those of the Python that runs this; a file that they refuse, and an
    empty one, scores zero. This is NeMo Curator's ``PythonCommentToCodeFilter``, which raises on an empty file.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = 1\n", "# The answer.\nx = 42\n", "x = ("]})
    >>> PythonCommentToCode().process(batch).data["text"].to_pylist()
    ['# The answer.\nx = 42\n']

    Args:
        min_fraction: Smallest fraction to keep a file.
        max_fraction: Largest fraction to keep a file.
        text_column: Column with the source code.
    """

    min_fraction: float = 0.01
    max_fraction: float = 0.85
    text_column: str = "text"

    name = "text.python_comment_to_code"

    def __post_init__(self) -> None:
        check_range(self.name, min_fraction=self.min_fraction, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = _PYTHON_COMMENTS.score(batch, self.text_column, pl.col("score"))
        return Verdict.between(
            found, self.min_fraction, self.max_fraction, below="too_few_comments", above="too_many_comments"
        )


@dataclass
class GeneralCommentToCode(Filter):
    """Keep source files in which ``min_fraction`` to ``max_fraction`` of the characters are comments.

    The marks around comments (``//``, ``/* */``, ``#``, ``<!-- -->``) do not count. Comments are found by the rules of
    the ``comment_parser`` package, which NeMo Curator's ``GeneralCommentToCodeFilter`` uses. A file with a comment that
    does not end (in Python: that cannot be tokenized) scores 9999 and is dropped as ``malformed``. An empty file
    scores zero; NeMo Curator raises. A language that is not known is refused at once; NeMo Curator drops every file.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = 1;", "x = 1; // one", "/* one"]})
    >>> GeneralCommentToCode("c++").process(batch).data["text"].to_pylist()
    ['x = 1; // one']

    Args:
        language: One of c, c++, c#, go, html, java, javascript, python, ruby, shell and xml, or its MIME type as
            ``comment_parser`` writes it: text/x-c, text/x-c++, text/x-go, text/html, text/x-java, text/x-java-source,
            application/javascript, text/x-javascript, text/x-python, text/x-script.python, text/x-ruby,
            text/x-shellscript, text/xml.
        min_fraction: Smallest fraction to keep a file.
        max_fraction: Largest fraction to keep a file.
        text_column: Column with the source code.
    """

    language: str
    min_fraction: float = 0.01
    max_fraction: float = 0.85
    text_column: str = "text"

    name = "text.general_comment_to_code"

    def __post_init__(self) -> None:
        if self.language not in FAMILIES:
            raise UnknownNameError("language", self.language, list(FAMILIES))
        check_range(self.name, min_fraction=self.min_fraction, max_fraction=self.max_fraction)

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        code_comments(self.language).prepare()

    def judge(self, batch: TableBatch) -> Verdict:
        is_malformed = pl.col("comment_chars") < 0
        score = pl.when(is_malformed).then(MALFORMED_SCORE).otherwise(ratio("comment_chars", "chars", of_nothing=0.0))
        found = code_comments(self.language).score(batch, self.text_column, score)
        return Verdict(
            found,
            {
                "malformed": found == MALFORMED_SCORE,
                "too_few_comments": found < self.min_fraction,
                "too_many_comments": found > self.max_fraction,
            },
        )


@dataclass
class NumberOfLinesOfCode(Filter):
    r"""Keep files of ``min_lines`` to ``max_lines`` lines.

    The number of lines is that of newlines and one more, as in NeMo Curator's ``NumberOfLinesOfCodeFilter``; blank
    lines and comments count, and an empty file has one line.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["one line", "x = 1\n" * 10]})
    >>> len(NumberOfLinesOfCode().process(batch).data)
    1

    Args:
        min_lines: Minimum number of lines to keep a file.
        max_lines: Maximum number of lines to keep a file.
        text_column: Column with the text.
    """

    min_lines: int = 10
    max_lines: int = 20_000
    text_column: str = "text"

    name = "text.number_of_lines_of_code"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_range(self.name, min_lines=self.min_lines, max_lines=self.max_lines)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, pl.col("newlines") + 1)
        return Verdict.between(found, self.min_lines, self.max_lines, below="too_few_lines", above="too_many_lines")


@dataclass
class Alpha(Filter):
    """Keep files in which at least ``min_fraction`` of the characters are letters.

    Letters are those of every script (Unicode's Alphabetic property). This is NeMo Curator's ``AlphaFilter``, after
    StarCoder (Li et al. 2023, section 3.1): it finds tables and tensors in source code. An empty file scores zero;
    NeMo Curator raises.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["x = [0.1, 0.7, 0.3, 0.25]", "def add(a, b): return a + b"]})
    >>> Alpha().process(batch).data["text"].to_pylist()
    ['def add(a, b): return a + b']

    Args:
        min_fraction: Smallest fraction of letters to keep a file, from 0 to 1.
        text_column: Column with the text.
    """

    min_fraction: float = 0.25
    text_column: str = "text"

    name = "text.alpha"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("letter_chars", "chars", of_nothing=0.0))
        return Verdict(found, {"too_few_letters": found < self.min_fraction})


@dataclass
class XmlHeader(Filter):
    """Keep files without ``<?xml version=`` among their first ``prefix_chars`` characters.

    The score is one for a file with it, else zero. This is NeMo Curator's ``XMLHeaderFilter``, after StarCoder (Li et
    al. 2023, section 3.1).

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ['<?xml version="1.0"?><a/>', "a = 1"]})
    >>> XmlHeader().process(batch).data["text"].to_pylist()
    ['a = 1']

    Args:
        prefix_chars: How many characters to look at.
        text_column: Column with the source code.
    """

    prefix_chars: int = 100
    text_column: str = "text"

    name = "text.xml_header"

    def __post_init__(self) -> None:
        check_positive(self.name, prefix_chars=self.prefix_chars)

    def judge(self, batch: TableBatch) -> Verdict:
        start = batch.text(self.text_column).str.slice(0, self.prefix_chars)
        is_xml = start.str.contains(_XML_HEADER, literal=True)
        return Verdict(is_xml.cast(int), {"xml": is_xml})


@dataclass
class HtmlBoilerplate(Filter):
    """Keep pages in which at least ``min_fraction`` of the characters are text, with at least ``min_chars`` of it.

    The text is all that stands outside of tags, comments, scripts and styles, with runs of white space between tags as
    one character. A page with less than ``min_chars`` characters of text scores zero, and so has one that Python's
    HTML parser refuses. This is NeMo Curator's ``HTMLBoilerplateFilter``, after StarCoder (Li et al. 2023, section
    3.1), which raises on an empty page and on one that the parser refuses.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["<p>" + "text " * 30 + "</p>", "<p>" + "<br><hr>" * 30 + "</p>"]})
    >>> len(HtmlBoilerplate().process(batch).data)
    1

    Args:
        min_fraction: Smallest fraction of text to keep a page, from 0 to 1.
        min_chars: Minimum number of characters of text to keep a page.
        text_column: Column with the HTML source.
    """

    min_fraction: float = 0.2
    min_chars: int = 100
    text_column: str = "text"

    name = "text.html_boilerplate"

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        fractions = per_document(f"html_text {self.min_chars}", partial(text_fraction, min_chars=self.min_chars))
        found = fractions.score(batch, self.text_column, pl.col("score"))
        return Verdict(found, {"too_little_text": found < self.min_fraction})
