"""Remove marks, addresses, lines and boilerplate."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from curator_core.sdk import ConfigError
from curator_table import parse_condition
from curator_text.checks import check_pattern
from curator_text.modifiers.text_modifier import (
    WHITESPACE,
    TextModifier,
    keep_pieces,
    replace_all,
    rewrite_matching,
    rewrite_rows,
)

__all__ = [
    "BOILERPLATE_PHRASES",
    "URL",
    "RemoveBoilerplate",
    "RemoveLines",
    "RemoveMarkdown",
    "RemoveQuotation",
    "RemoveUrls",
]

URL = r"(?i:(?:https?|s?ftps?)://|www\.)[^\s\x1c-\x1f]+"
"""An address up to the next whitespace, as of NeMo Curator's ``UrlRemover``, and of FTP, too."""


@dataclass
class RemoveUrls(TextModifier):
    """Remove everything that begins with ``http://``, ``https://``, ``ftp://`` or ``www.``, up to the next whitespace.

    With default parameters this is NeMo Curator's ``UrlRemover``, which ignores FTP and leaves the beginning of
    ``ftp://www.…``: marks that follow an address go with it, and the spaces around it stay.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["See https://example.org/a?b=1 and www.example.com."]})
    >>> RemoveUrls().process(batch).data["text"].to_pylist()
    ['See  and ']
    >>> RemoveUrls(replacement="<url>").process(batch).data["text"].to_pylist()
    ['See <url> and <url>']

    Args:
        replacement: Text to put in place of each address.
        text_column: Column with the text.
    """

    replacement: str = ""

    name = "text.remove_urls"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        plain = self.replacement.replace("$", "$$")
        return rewrite_matching(texts, r"(?i:://|www\.)", lambda rows: rows.str.replace_all(URL, plain))


_QUOTED_LINE = r'\A"[^\n]+"\z'
_QUOTED_LINES = r'\A"[^\n]*[^\n"]\n(?s:.*)"\z'
"""Several lines in one pair of marks: where the first line ends with a mark, it is a quotation of its own."""


@dataclass
class RemoveQuotation(TextModifier):
    r"""Remove the quotation marks around a document that begins and ends with ``"``.

    This is NeMo Curator's ``QuotationRemover``: in a document of several lines, only where the first line does not end
    with a mark, and never where nothing but the marks would be left.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ['"All of it."', '"One," he said. "Two."', '"First."\n"Second."']})
    >>> RemoveQuotation().process(batch).data["text"].to_pylist()
    ['All of it.', 'One," he said. "Two.', '"First."\n"Second."']

    Args:
        text_column: Column with the text.
    """

    name = "text.remove_quotation"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        return rewrite_matching(
            texts, f"{_QUOTED_LINE}|{_QUOTED_LINES}", lambda rows: rows.str.strip_prefix('"').str.strip_suffix('"')
        )


_NEMO = ((r"\*\*(.*?)\*\*", "$1"), (r"\*(.*?)\*", "$1"), (r"_(.*?)_", "$1"), (r"\[.*?\]\((.*?)\)", "$1"))
"""NeMo Curator's ``MarkdownRemover``, step by step."""

_FENCES = ((r"(?m)^[ \t]*(?:```+|~~~+)[^\n`]*(?:\n|\z)", ""),)
_IMAGES = ((r"!\[([^\[\]\n]*)\]\([^()\n]*\)", "$1"),)
_HEADINGS = ((r"(?m)^[ ]{0,3}#{1,6}[ \t]+([^\n]*?)(?:[ \t]+#+)?[ \t]*$", "$1"),)
_QUOTES = ((r"(?m)^[ ]{0,3}(?:>[ ]?)+", ""),)
_RULES = ((r"(?m)^[ ]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$\n?", ""),)
_CODE = ((r"`([^`\n]+)`", "$1"),)
# A mark touches what it encloses, and underscores inside a word are no marks.
_EMPHASIS = (
    (r"\*\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*\*", "$1"),
    (r"\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*", "$1"),
    (r"\*([^\s*](?:[^*\n]*[^\s*])?)\*", "$1"),
    (r"\b{start-half}__([^\s_](?:[^\n]*?[^\s_])??)__\b{end-half}", "$1"),
    (r"\b{start-half}_([^\s_](?:[^_\n]*[^\s_])?)_\b{end-half}", "$1"),
    (r"~~([^\s~](?:[^~\n]*[^\s~])?)~~", "$1"),
)
_LINKS = {"text": "$1", "url": "$2", "both": "$1 ($2)"}
_LINK = r"\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)?)>?(?:[ \t]+[^()\n]*)?\)"


@dataclass
class RemoveMarkdown(TextModifier):
    """Remove the marks of Markdown: headings, emphasis, links, images, code, quotes and rules; lists stay as they are.

    Line by line, as far as line by line goes: this is not a parser. Unlike NeMo Curator's ``MarkdownRemover``, it
    leaves ``snake_case_names`` and ``2 * 3 * 4`` alone and keeps the text of a link rather than its address;
    ``nemo=True`` does exactly what that one does.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["# A **bold** _start_: [a link](https://example.org), my_own_name"]})
    >>> RemoveMarkdown().process(batch).data["text"].to_pylist()
    ['A bold start: a link, my_own_name']
    >>> RemoveMarkdown(nemo=True).process(batch).data["text"].to_pylist()
    ['# A bold start: https://example.org, myownname']

    Args:
        links: The part to keep of ``[text](url)``: the ``text``, the ``url``, or ``both``.
        code: Remove the fences and backticks around code; the code stays.
        nemo: Remove ``**``, ``*``, ``_`` and links just as NeMo Curator does, and nothing else.
        text_column: Column with the text.
    """

    links: Literal["text", "url", "both"] = "text"
    code: bool = True
    nemo: bool = False

    name = "text.remove_markdown"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        for pattern, kept in self._steps():
            texts = replace_all(texts, pattern, kept)
        return texts

    def _steps(self) -> tuple[tuple[str, str], ...]:
        if self.nemo:
            return _NEMO
        code = (*_FENCES, *_CODE) if self.code else ()
        links = ((_LINK, _LINKS[self.links]),)
        return (*code, *_IMAGES, *links, *_HEADINGS, *_QUOTES, *_RULES, *_EMPHASIS)


@dataclass
class RemoveLines(TextModifier):
    r"""Remove the lines that are listed, match a pattern or meet a condition; any one of them is enough.

    With ``lines`` alone this is NeMo Curator's ``LineRemover``. Lines end with ``\n``; what is left is joined again,
    and a document without lines is empty.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Menu\nA story begins.\n* * *\nIt ends.\nok"]})
    >>> stage = RemoveLines(lines=["Menu"], patterns=[r"^\W+$"], where="length(line) < 3")
    >>> stage.process(batch).data["text"].to_pylist()
    ['A story begins.\nIt ends.']

    Args:
        lines: Whole lines to remove.
        patterns: Regular expressions (Rust syntax); a line in which one is found is removed.
        where: SQL condition, as in ``table.where``, over the columns ``line`` and ``number`` (of the line in its
            document, from 0), e.g. ``length(line) < 5``.
        strip: Compare lines without the whitespace at their ends.
        ignore_case: Take upper and lower case as equal, in lines and patterns.
        text_column: Column with the text.
    """

    lines: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    where: str | None = None
    strip: bool = False
    ignore_case: bool = False

    name = "text.remove_lines"

    def __post_init__(self) -> None:
        if not (self.lines or self.patterns or self.where):
            raise ConfigError(
                f"{self.name}: nothing to remove", fix='give lines, patterns or where, e.g. lines: ["Menu"]'
            )
        if any("\n" in line for line in self.lines):
            raise ConfigError(f"{self.name}: a line cannot hold a newline", fix="list each line by itself")
        for pattern in self.patterns:
            check_pattern(self.name, pattern)
        if self.where is not None:
            unknown = set(parse_condition(self.where).meta.root_names()) - {"line", "number"}
            if unknown:
                raise ConfigError(f"{self.name}: the condition knows line and number, not {', '.join(sorted(unknown))}")

    def rewrite(self, texts: pl.Series) -> pl.Series:
        return rewrite_rows(texts, self._suspects(texts), lambda rows: keep_pieces(rows, "\n", self._kept))

    def _suspects(self, texts: pl.Series) -> pl.Series:
        """Mark the documents that can hold such a line, so that only those are cut into lines."""
        if self.where is not None or "" in self.lines or any(re.search(r"\\[AzB]", each) for each in self.patterns):
            return texts.is_not_null()
        found = pl.repeat(value=False, n=len(texts), eager=True)
        if self.lines:
            # Lower case would find all of them only in ASCII, where letters keep their number.
            is_exact = not self.ignore_case or all(line.isascii() for line in self.lines)
            if not is_exact:
                return texts.is_not_null()
            wanted = [line.strip() for line in self.lines] if self.strip else self.lines
            found |= texts.str.contains_any(wanted, ascii_case_insensitive=self.ignore_case)
        for pattern in self._patterns():
            found |= texts.str.contains(f"(?m){pattern}")
        return found

    def _kept(self, pieces: pl.DataFrame) -> pl.Series:
        line = pieces["piece"]
        removed = pl.repeat(value=False, n=len(line), eager=True)
        if self.lines:
            removed |= self._comparable(line).is_in(self._comparable(pl.Series(self.lines, dtype=pl.String)).implode())
        for pattern in self._patterns():
            removed |= line.str.contains(pattern)
        if self.where is not None:
            frame = pieces.select(
                pl.col("piece").alias("line"), pl.int_range(pl.len(), dtype=pl.Int64).over("row").alias("number")
            )
            met = frame.select(parse_condition(self.where).alias("met"))["met"]
            removed |= met.cast(pl.Boolean).fill_null(value=False)
        return ~removed

    def _comparable(self, lines: pl.Series) -> pl.Series:
        lines = lines.str.strip_chars(WHITESPACE) if self.strip else lines
        return lines.str.to_lowercase() if self.ignore_case else lines

    def _patterns(self) -> list[str]:
        return [f"(?i){pattern}" if self.ignore_case else pattern for pattern in self.patterns]


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
        text_column: Column with the text.
    """

    remove_if_at_top_or_bottom: bool = True
    phrases: list[str] = field(default_factory=lambda: list(BOILERPLATE_PHRASES))
    lorem_ipsum: bool = True

    name = "text.remove_boilerplate"

    def __post_init__(self) -> None:
        wrong = [phrase for phrase in self.phrases if not phrase or phrase != phrase.lower()]
        if wrong:
            raise ConfigError(f"{self.name}: phrases must be in lower case and not empty, got {wrong[0]!r}")

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
