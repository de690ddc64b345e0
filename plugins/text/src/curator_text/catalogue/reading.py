"""Stages that read documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "read_jsonl",
        target="curator_text.reading.tables:ReadJsonl",
        summary="Read documents from JSON Lines files (plain, gz, zst, bz2, xz).",
        kind="reader",
    ),
    StageSpec(
        "read_parquet",
        target="curator_text.reading.tables:ReadParquet",
        summary="Read documents from Parquet files.",
        kind="reader",
    ),
    StageSpec(
        "read_csv",
        target="curator_text.reading.tables:ReadCsv",
        summary="Read documents from CSV files with a header line.",
        kind="reader",
    ),
    StageSpec(
        "read_arrow",
        target="curator_text.reading.tables:ReadArrow",
        summary="Read documents from Arrow IPC files and streams.",
        kind="reader",
    ),
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
    StageSpec(
        "read_hf",
        target="curator_text.reading.hf:ReadHf",
        summary="Read Hugging Face datasets from disk.",
        kind="reader",
    ),
)
