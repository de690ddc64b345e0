"""Stages that drop source code by one heuristic each."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "python_comment_to_code",
        target="curator_text.filters.code:PythonCommentToCode",
        summary="Drop Python files with too few or too many comments.",
        kind="filter",
    ),
    StageSpec(
        "general_comment_to_code",
        target="curator_text.filters.code:GeneralCommentToCode",
        summary="Drop source files of many languages with too few or too many comments.",
        kind="filter",
    ),
    StageSpec(
        "number_of_lines_of_code",
        target="curator_text.filters.code:NumberOfLinesOfCode",
        summary="Drop source files with too few or too many lines.",
        kind="filter",
    ),
    StageSpec(
        "alpha",
        target="curator_text.filters.code:Alpha",
        summary="Drop source files that are mostly data.",
        kind="filter",
    ),
    StageSpec(
        "xml_header",
        target="curator_text.filters.code:XmlHeader",
        summary="Drop files that are XML, whatever their name says.",
        kind="filter",
    ),
    StageSpec(
        "html_boilerplate",
        target="curator_text.filters.code:HtmlBoilerplate",
        summary="Drop HTML pages that are mostly markup and scripts.",
        kind="filter",
    ),
    StageSpec(
        "per_extension",
        target="curator_text.filters.per_extension:PerExtension",
        summary="Drop source files by limits that depend on the language and the extension.",
        kind="filter",
    ),
)
