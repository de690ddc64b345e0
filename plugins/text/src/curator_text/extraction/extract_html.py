"""Turn web pages into text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_text.extraction.markup_stage import MarkupStage, html_values, without_rows
from curator_text.extraction.page_extractors import Backend, ExtractionSettings

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["ExtractHtml"]


@dataclass
class ExtractHtml(MarkupStage):
    r"""Find the text of web pages: the main content, without navigation, advertisements and the like.

    Pages come as text, or as bytes, whose charset is found as browsers do. A null page gets null, one without content
    an empty text. Extraction runs in a process beside the worker, which is ended and replaced when a page takes longer
    than ``page_timeout_s``, crashes it or needs too much memory; that page is quarantined, the others come out.

    >>> from curator_text import DocumentBatch
    >>> html = "<html><title>T</title><nav>Menu</nav><main><h1>Title</h1><p>First.</p><p>Second.</p></main></html>"
    >>> stage = ExtractHtml()
    >>> stage.process(DocumentBatch(data={"html": [html]})).data.to_pylist()
    [{'text': 'Title\n\nFirst.\n\nSecond.'}]
    >>> stage.teardown()

    Args:
        html_column: Column with the pages.
        text_column: Column for the text; may be the same.
        backend: ``resiliparse`` (fastest), ``trafilatura`` (more precise, ten times as slow) or ``justext``; the latter
            two need the extras of their names.
        main_content: Keep only the main content; otherwise keep all visible text, with that of
            buttons, labels and options.
        preserve_formatting: Keep line breaks, paragraphs and lists; otherwise the text is one line.
        links: Add the targets of links.
        alt_texts: Add descriptions of images.
        comments: Keep the comments of readers.
        stop_words: Language whose frequent words justext tells text by (``English``, ``German``, …).
        keep_html: Keep the pages beside the text.
        page_timeout_s: Maximum number of CPU seconds for one page.
        max_html_bytes: A larger page is quarantined.
    """

    html_column: str = "html"
    text_column: str = "text"
    backend: Backend = field(default="resiliparse", kw_only=True)
    main_content: bool = field(default=True, kw_only=True)
    preserve_formatting: bool = field(default=True, kw_only=True)
    links: bool = field(default=False, kw_only=True)
    alt_texts: bool = field(default=False, kw_only=True)
    comments: bool = field(default=False, kw_only=True)
    stop_words: str = field(default="English", kw_only=True)
    keep_html: bool = field(default=False, kw_only=True)

    name = "text.extract_html"

    def inputs(self) -> Columns:
        return [self.html_column]

    def outputs(self) -> Columns:
        return [self.text_column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        gone = frozenset() if self._keeps_html() else frozenset({self.html_column})
        return (columns - gone) | {self.text_column}

    def settings(self) -> ExtractionSettings:
        return ExtractionSettings(
            backend=self.backend,
            main_content=self.main_content,
            preserve_formatting=self.preserve_formatting,
            links=self.links,
            alt_texts=self.alt_texts,
            comments=self.comments,
            stop_words=self.stop_words,
        )

    def process(self, task: TableBatch) -> TableBatch | None:
        """Add the text; leave out the pages that have none for a reason."""
        texts, blames = self.extract(task, html_values(task, self.html_column))
        batch = task.with_column(self.text_column, texts)
        if not self._keeps_html():
            batch = batch.with_data(batch.data.drop_columns([self.html_column]))
        return without_rows(batch, blames)

    def _keeps_html(self) -> bool:
        return self.keep_html or self.html_column == self.text_column
