"""The stages of curator-table keep the rules that plugins must keep."""

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from curator_core import EmptyTask, TableBatch
from curator_devkit.testing import Example, parametrize_with_checks
from curator_table import (
    Blend,
    BlendSource,
    Partition,
    ReadArrow,
    ReadCsv,
    ReadHf,
    ReadJsonl,
    ReadParquet,
    Resample,
    Sample,
    ScoreBuckets,
    SelectColumns,
    Shuffle,
    Statistics,
    Where,
    WriteArrow,
    WriteCsv,
    WriteJsonl,
    WriteParquet,
    WriteRouted,
)

ROWS = [{"text": "one document", "id": 1}, {"text": "größer \u0301\nand longer", "id": 2}, {"text": None, "id": 3}]
SCORED = TableBatch(
    data={
        "text": ["a", None, "c d", ""],
        "edu": [4.5, None, 1.0, 2.0],
        "prose": [0.9, None, 0.3, 0.5],
        "bucket": ["high", None, "low", "medium"],
        "_source": ["x"] * 4,
        "_row": [0, 10, 20, 30],
    },
    task_id="3f2a/0",
)


@functools.cache
def folder() -> Path:
    """A folder with the same rows in every format."""
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    (path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    table = pa.Table.from_pylist(ROWS)
    pyarrow.parquet.write_table(table, path / "rows.parquet")
    pyarrow.csv.write_csv(table, path / "rows.csv")
    with pa.ipc.new_file(path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    (path / "hub").mkdir()
    shutil.copy(path / "rows.parquet", path / "hub" / "train-00000-of-00001.parquet")
    return path


def reading(reader, file):
    return lambda: Example(stage=reader(paths=str(folder() / file)), tasks=[EmptyTask()])


def writing(writer):
    batch = TableBatch(data=ROWS, task_id="3f2a/0")
    return lambda: Example(stage=writer(path=str(folder() / writer.__name__)), tasks=[batch])


EXAMPLES = {
    "table.read_jsonl": reading(ReadJsonl, "rows.jsonl"),
    "table.read_parquet": reading(ReadParquet, "rows.parquet"),
    "table.read_csv": reading(ReadCsv, "rows.csv"),
    "table.read_arrow": reading(ReadArrow, "rows.arrow"),
    "table.read_hf": reading(ReadHf, "hub"),
    "table.write_jsonl": writing(WriteJsonl),
    "table.write_parquet": writing(WriteParquet),
    "table.write_arrow": writing(WriteArrow),
    "table.write_csv": writing(WriteCsv),
    "table.blend": lambda: Example(
        stage=Blend(
            {
                "a": BlendSource(str(folder() / "rows.jsonl")),
                "b": BlendSource(str(folder() / "rows.parquet"), 2, "parquet"),
            }
        ),
        tasks=[EmptyTask()],
    ),
    "table.score_buckets": Example(stage=ScoreBuckets(["edu", "prose"], ranges={"edu": [0, 5]}), tasks=[SCORED]),
    "table.resample": Example(stage=Resample({"high": 2.5, "low": 0.1}), tasks=[SCORED]),
    "table.shuffle": Example(stage=Shuffle(), tasks=[SCORED]),
    "table.partition": Example(stage=Partition(3), tasks=[SCORED]),
    "table.statistics": lambda: Example(
        stage=Statistics(str(folder() / "statistics"), columns=["edu"], by="bucket"), tasks=[SCORED]
    ),
    "table.route": lambda: Example(stage=WriteRouted(str(folder() / "routed")), tasks=[SCORED]),
    "table.sample": Example(stage=Sample(fraction=0.5)),
    "table.select": Example(stage=SelectColumns(drop=["untouched"], rename={"body": "text"})),
    "table.where": Example(stage=Where("text LIKE '%e%' AND length(text) > 3")),
}


@parametrize_with_checks("table", examples=EXAMPLES)
def test_table_conforms(check):
    check()
