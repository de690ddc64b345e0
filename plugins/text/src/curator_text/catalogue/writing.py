"""Stages that write documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "write_jsonl",
        target="curator_text.writing.tables:WriteJsonl",
        summary="Write documents to JSON Lines files, compressed if asked.",
        kind="writer",
    ),
    StageSpec(
        "write_parquet",
        target="curator_text.writing.tables:WriteParquet",
        summary="Write documents to Parquet files with page checksums.",
        kind="writer",
    ),
    StageSpec(
        "write_arrow",
        target="curator_text.writing.tables:WriteArrow",
        summary="Write documents to Arrow IPC files with checksums.",
        kind="writer",
    ),
    StageSpec(
        "write_csv",
        target="curator_text.writing.tables:WriteCsv",
        summary="Write documents to CSV files, compressed if asked.",
        kind="writer",
    ),
    StageSpec(
        "write_tokens",
        target="curator_text.writing.tokens:WriteTokens",
        summary="Tokenize documents and write the shards that Megatron trains from.",
        kind="writer",
        requires=("tokenizers",),
        extra="tokens",
    ),
)
