"""Take the markup out of text that has some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_text.extraction.markup_stage import MarkupStage, html_values, without_rows
from curator_text.extraction.page_extractors import ExtractionSettings

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["HtmlToText"]

_MARKUP = "[<&]"


@dataclass
class HtmlToText(MarkupStage):
    r"""Turn fragments of HTML into plain text, in place: tags go, entities become characters, all text stays.

    That includes the title, buttons, labels, options and what is for browsers without scripts; scripts and styles are
    no text. Cells of tables are apart.

    Text without ``<`` and ``&`` stays as it is, as do nulls. A fragment that takes longer than ``page_timeout_s`` or
    crashes the parser is quarantined.

    >>> from curator_text import DocumentBatch
    >>> stage = HtmlToText()
    >>> texts = ["<p>Fish &amp; <b>chips</b>", "plain", "<ul><li>one<li>two</ul>"]
    >>> stage.process(DocumentBatch(data={"text": texts})).data["text"].to_pylist()
    ['Fish & chips', 'plain', '  • one\n  • two']
    >>> stage.teardown()

    Args:
        text_column: Column with the fragments.
        preserve_formatting: Keep line breaks, paragraphs and lists; otherwise the text is one line.
        links: Add the targets of links.
        alt_texts: Add descriptions of images.
        page_timeout_s: Maximum number of CPU seconds for one fragment.
        max_html_bytes: A larger fragment is quarantined.
    """

    text_column: str = "text"
    preserve_formatting: bool = field(default=True, kw_only=True)
    links: bool = field(default=False, kw_only=True)
    alt_texts: bool = field(default=False, kw_only=True)

    name = "text.html_to_text"

    def inputs(self) -> Columns:
        return [self.text_column]

    def settings(self) -> ExtractionSettings:
        return ExtractionSettings(
            main_content=False,
            preserve_formatting=self.preserve_formatting,
            links=self.links,
            alt_texts=self.alt_texts,
            title=True,
        )

    def process(self, task: TableBatch) -> TableBatch | None:
        """Replace the fragments that have markup."""
        import pyarrow as pa
        import pyarrow.compute as pc

        task.text(self.text_column)  # raises for columns that are not text
        column = html_values(task, self.text_column)
        marked = pc.fill_null(pc.match_substring_regex(column, _MARKUP), False)
        fragments = pc.if_else(marked, column, pa.scalar(None, pa.large_string()))
        texts, blames = self.extract(task, fragments)
        kind = task.data.schema.field(self.text_column).type
        replaced = pc.if_else(marked, texts, column)
        return without_rows(
            task.with_column(self.text_column, replaced.cast(kind) if pa.types.is_string(kind) else replaced), blames
        )
