"""Declare the stages and task types of curator-table without importing them."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read_jsonl",
            target="curator_table.table_reader:ReadJsonl",
            summary="Read JSON Lines files (plain, gz, zst, bz2, xz).",
            kind="reader",
        ),
        StageSpec(
            "read_parquet",
            target="curator_table.table_reader:ReadParquet",
            summary="Read Parquet files.",
            kind="reader",
        ),
        StageSpec(
            "read_csv",
            target="curator_table.table_reader:ReadCsv",
            summary="Read CSV files with a header line.",
            kind="reader",
        ),
        StageSpec(
            "read_arrow",
            target="curator_table.table_reader:ReadArrow",
            summary="Read Arrow IPC files and streams.",
            kind="reader",
        ),
        StageSpec(
            "read_hf",
            target="curator_table.hf.reader:ReadHf",
            summary="Read Hugging Face datasets from disk.",
            kind="reader",
        ),
        StageSpec(
            "blend",
            target="curator_table.stages.blend:Blend",
            summary="Read several sources in given proportions, mixed.",
            kind="reader",
        ),
        StageSpec(
            "select",
            target="curator_table.stages.select:SelectColumns",
            summary="Keep, drop and rename columns.",
            kind="modifier",
        ),
        StageSpec(
            "where",
            target="curator_table.stages.where:Where",
            summary="Keep the rows for which a SQL expression is true.",
            kind="filter",
        ),
        StageSpec(
            "sample",
            target="curator_table.stages.sample:Sample",
            summary="Keep a fraction of the rows, the same ones every time.",
            kind="filter",
        ),
        StageSpec(
            "add_id",
            target="curator_table.stages.add_id:AddId",
            summary="Add ids made of the file that each row was read from and its place in it.",
            kind="modifier",
            produces=("id",),
        ),
        StageSpec(
            "score_buckets",
            target="curator_table.stages.score_buckets:ScoreBuckets",
            summary="Combine scores of several models and sort rows into buckets.",
            kind="annotator",
            produces=("score", "bucket"),
        ),
        StageSpec(
            "resample",
            target="curator_table.stages.resample:Resample",
            summary="Repeat or thin out rows by a weight for each bucket.",
            kind="other",
            produces=("copy",),
        ),
        StageSpec(
            "shuffle",
            target="curator_table.stages.shuffle:Shuffle",
            summary="Bring the rows of each batch into a random order.",
            kind="other",
        ),
        StageSpec(
            "partition",
            target="curator_table.stages.shuffle:Partition",
            summary="Give each row the number of a random partition, to shuffle a whole corpus.",
            kind="annotator",
            produces=("partition",),
        ),
        StageSpec(
            "statistics",
            target="curator_table.stages.statistics:Statistics",
            summary="Gather histograms and quantiles of measures, columns and expressions.",
            kind="other",
        ),
        StageSpec(
            "route",
            target="curator_table.stages.route:WriteRouted",
            summary="Write the rows of each bucket, language or other value to a folder of its own.",
            kind="writer",
        ),
        StageSpec(
            "write_jsonl",
            target="curator_table.table_writer:WriteJsonl",
            summary="Write JSON Lines files, compressed if asked.",
            kind="writer",
        ),
        StageSpec(
            "write_parquet",
            target="curator_table.table_writer:WriteParquet",
            summary="Write Parquet files with page checksums.",
            kind="writer",
        ),
        StageSpec(
            "write_arrow",
            target="curator_table.table_writer:WriteArrow",
            summary="Write Arrow IPC files with checksums.",
            kind="writer",
        ),
        StageSpec(
            "write_csv",
            target="curator_table.table_writer:WriteCsv",
            summary="Write CSV files, compressed if asked.",
            kind="writer",
        ),
    ]
