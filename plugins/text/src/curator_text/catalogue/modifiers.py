"""Stages that change documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "normalize",
        target="curator_text.modifiers.normalize:Normalize",
        summary="Normalise Unicode, line ends, control characters, spaces and blank lines.",
        kind="modifier",
    ),
    StageSpec(
        "fix_unicode",
        target="curator_text.modifiers.fix_unicode:FixUnicode",
        summary="Repair mojibake, HTML entities and stray control characters (ftfy).",
        kind="modifier",
    ),
    StageSpec(
        "normalize_newlines",
        target="curator_text.modifiers.normalize:NormalizeNewlines",
        summary="Turn three or more newlines in a row into two.",
        kind="modifier",
    ),
    StageSpec(
        "normalize_whitespace",
        target="curator_text.modifiers.normalize:NormalizeWhitespace",
        summary="Turn every kind and run of spaces into single spaces.",
        kind="modifier",
    ),
    StageSpec(
        "remove_urls",
        target="curator_text.modifiers.remove:RemoveUrls",
        summary="Remove web addresses.",
        kind="modifier",
    ),
    StageSpec(
        "remove_markdown",
        target="curator_text.modifiers.remove:RemoveMarkdown",
        summary="Remove the marks of Markdown and keep what they enclose.",
        kind="modifier",
    ),
    StageSpec(
        "remove_quotation",
        target="curator_text.modifiers.remove:RemoveQuotation",
        summary="Remove the quotation marks around whole documents.",
        kind="modifier",
    ),
    StageSpec(
        "remove_lines",
        target="curator_text.modifiers.remove:RemoveLines",
        summary="Remove lines that are listed, match a pattern or meet a condition.",
        kind="modifier",
    ),
    StageSpec(
        "remove_boilerplate",
        target="curator_text.modifiers.remove:RemoveBoilerplate",
        summary="Remove cookie notices, terms of use and the like at the top and bottom.",
        kind="modifier",
    ),
    StageSpec(
        "slice",
        target="curator_text.modifiers.slice:Slice",
        summary="Keep the part of each document between two positions or strings.",
        kind="modifier",
    ),
    StageSpec(
        "split_documents",
        target="curator_text.modifiers.segments:SplitDocuments",
        summary="Cut documents at a separator, each segment a row.",
        kind="modifier",
        produces=("segment_id",),
    ),
    StageSpec(
        "join_documents",
        target="curator_text.modifiers.segments:JoinDocuments",
        summary="Join the segments of documents again, up to a length.",
        kind="modifier",
    ),
    StageSpec(
        "fasttext_label",
        target="curator_text.modifiers.fasttext_label:FasttextLabel",
        summary="Write documents as labelled lines for training fastText.",
        kind="modifier",
    ),
)
