"""What curator-text offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read_jsonl",
            target="curator_text.readers:ReadJsonl",
            summary="Read documents from JSON Lines files (plain, gz, zst, bz2, xz).",
            kind="reader",
        ),
        StageSpec(
            "read_parquet",
            target="curator_text.readers:ReadParquet",
            summary="Read documents from Parquet files.",
            kind="reader",
        ),
        StageSpec(
            "read_csv",
            target="curator_text.readers:ReadCsv",
            summary="Read documents from CSV files with a header line.",
            kind="reader",
        ),
        StageSpec(
            "write_jsonl",
            target="curator_text.writers:WriteJsonl",
            summary="Write documents to JSON Lines files, compressed if asked.",
            kind="writer",
        ),
        StageSpec(
            "write_parquet",
            target="curator_text.writers:WriteParquet",
            summary="Write documents to Parquet files with page checksums.",
            kind="writer",
        ),
        StageSpec(
            "normalize",
            target="curator_text.normalize:Normalize",
            summary="Normalise Unicode, line ends, control characters, spaces and blank lines.",
            kind="modifier",
        ),
        StageSpec(
            "word_count",
            target="curator_text.word_count:WordCount",
            summary="Drop documents with too few or too many words.",
            kind="filter",
        ),
        StageSpec(
            "mean_word_length",
            target="curator_text.mean_word_length:MeanWordLength",
            summary="Drop documents whose words are too short or too long on average.",
            kind="filter",
        ),
        StageSpec(
            "non_alpha_numeric",
            target="curator_text.non_alpha_numeric:NonAlphaNumeric",
            summary="Drop documents with too large a share of characters that are not letters or digits.",
            kind="filter",
        ),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("DocumentBatch", target="curator_text.batch:DocumentBatch", summary="A table of documents.")]
