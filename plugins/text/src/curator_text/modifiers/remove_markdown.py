"""Remove the marks of Markdown and keep what they enclose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_text.modifiers.text_column import rewrite_matching
from curator_text.modifiers.text_modifier import TextModifier

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RemoveMarkdown"]

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
        links: What to keep of ``[text](url)``: the ``text``, the ``url``, or ``both``.
        code: Remove the fences and backticks around code; the code stays.
        nemo: Remove ``**``, ``*``, ``_`` and links just as NeMo Curator does, and nothing else.
        text_field: Column with the text.
    """

    links: Literal["text", "url", "both"] = "text"
    code: bool = True
    nemo: bool = False

    name = "text.remove_markdown"

    def rewrite(self, texts: pl.Series) -> pl.Series:
        for pattern, kept in self._steps():
            texts = rewrite_matching(
                texts,
                pattern,
                lambda rows, pattern=pattern, kept=kept: rows.str.replace_all(pattern, kept),  # type: ignore[misc]
            )
        return texts

    def _steps(self) -> tuple[tuple[str, str], ...]:
        if self.nemo:
            return _NEMO
        code = (*_FENCES, *_CODE) if self.code else ()
        links = ((_LINK, _LINKS[self.links]),)
        return (*code, *_IMAGES, *links, *_HEADINGS, *_QUOTES, *_RULES, *_EMPHASIS)
