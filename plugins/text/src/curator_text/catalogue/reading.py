"""Stages that read documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "read_text",
        target="curator_text.reading.text_files:ReadText",
        summary="Read plain text files: a document per file, paragraph or line.",
        kind="reader",
    ),
    StageSpec(
        "read_warc",
        target="curator_text.reading.warc:ReadWarc",
        summary="Read web pages from WARC files (plain, gz, zst).",
        kind="reader",
        requires=("fastwarc", "resiliparse"),
        extra="warc",
    ),
)
