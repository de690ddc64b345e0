"""Every stage of curator-text passes the conformance kit."""

import atexit
import json
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_text import DocumentBatch, ReadCsv, ReadJsonl, ReadParquet, WriteJsonl, WriteParquet

TABLE = pa.table({"text": ["one two three", "größer", None], "n": [1, 2, 3]})


def new_folder():
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def jsonl():
    path = new_folder() / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
    return Example(ReadJsonl(str(path)), [EmptyTask()])


def parquet():
    path = new_folder() / "in.parquet"
    pq.write_table(TABLE, path)
    return Example(ReadParquet(str(path)), [EmptyTask()])


def csv():
    path = new_folder() / "in.csv"
    pyarrow.csv.write_csv(TABLE, path)
    return Example(ReadCsv(str(path)), [EmptyTask()])


def written(writer):
    return lambda: Example(writer(str(new_folder())), [DocumentBatch(data=TABLE, task_id="1/0")])


EXAMPLES = {
    "text.read_jsonl": jsonl,
    "text.read_parquet": parquet,
    "text.read_csv": csv,
    "text.write_jsonl": written(WriteJsonl),
    "text.write_parquet": written(WriteParquet),
}


@parametrize_with_checks("text", examples=EXAMPLES)
def test_text_conformance(check):
    check()
