"""The text plugin keeps the rules."""

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_text import plugin
from curator_text.batch import DocumentBatch
from curator_text.readers import ReadCsv, ReadJsonl, ReadParquet
from curator_text.writers import WriteJsonl, WriteParquet

ROWS = [{"text": "one document", "id": 1}, {"text": "größer \u0301\nand longer", "id": 2}, {"text": None, "id": 3}]


@functools.cache
def folder() -> Path:
    """A folder with the same rows in every format."""
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    (path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    table = pa.Table.from_pylist(ROWS)
    pyarrow.parquet.write_table(table, path / "rows.parquet")
    pyarrow.csv.write_csv(table, path / "rows.csv")
    return path


def reading(reader, file):
    return lambda: Example(stage=reader(paths=str(folder() / file)), tasks=[EmptyTask()])


def writing(writer):
    batch = DocumentBatch(data=ROWS, task_id="3f2a/0")
    return lambda: Example(stage=writer(path=str(folder() / writer.__name__)), tasks=[batch])


EXAMPLES = {
    "text.read_jsonl": reading(ReadJsonl, "rows.jsonl"),
    "text.read_parquet": reading(ReadParquet, "rows.parquet"),
    "text.read_csv": reading(ReadCsv, "rows.csv"),
    "text.write_jsonl": writing(WriteJsonl),
    "text.write_parquet": writing(WriteParquet),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_text_conforms(check):
    check()
