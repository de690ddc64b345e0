"""Stages that turn web pages into text."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "extract_html",
        target="curator_text.extraction.extract_html:ExtractHtml",
        summary="Find the text of web pages, in a process that a page cannot stall.",
        kind="modifier",
        requires=("resiliparse",),
        extra="html",
        produces=("text",),
    ),
    StageSpec(
        "html_to_text",
        target="curator_text.extraction.html_to_text:HtmlToText",
        summary="Take the markup out of text that has some.",
        kind="modifier",
        requires=("resiliparse",),
        extra="html",
    ),
)
