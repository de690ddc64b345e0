"""Stages that drop documents by a published set of rules."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "gopher_quality",
        target="curator_text.filters.quality:GopherQuality",
        summary="Drop documents that do not look like prose, by Gopher's rules.",
        kind="filter",
    ),
    StageSpec(
        "gopher_repetition",
        target="curator_text.filters.repetition:GopherRepetition",
        summary="Drop documents that repeat lines, paragraphs or n-grams, by Gopher's rules.",
        kind="filter",
    ),
    StageSpec(
        "c4_quality",
        target="curator_text.filters.quality:C4Quality",
        summary="Cut lines that are not prose, and drop documents with too little left, by C4's rules.",
        kind="filter",
    ),
    StageSpec(
        "fineweb_quality",
        target="curator_text.filters.quality:FinewebQuality",
        summary="Drop documents whose lines do not look like prose, by FineWeb's rules.",
        kind="filter",
    ),
    StageSpec(
        "heuristics",
        target="curator_text.filters.heuristics:Heuristics",
        summary="Run the filters of a published recipe: gopher, c4, fineweb or nemo_english.",
        kind="filter",
    ),
)
