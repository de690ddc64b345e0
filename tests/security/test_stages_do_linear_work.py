"""Every text stage does work in proportion to the text, however the text is made.

Lines of Python are counted, not seconds: text four times as long may take 4.5 times the lines. Not counted is what runs
outside of Python: kernels that numba compiles, polars, tokenizers and models, and regular expressions, which
test_patterns_are_linear.py judges by their shape.
"""

import functools
import runpy
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from curator_core.authoring.stage import CompositeStage, columns_of
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, TableBatch
from curator_core.registry import default_registry
from curator_core.values.errors import MissingPackageError
from curator_devkit.testing.check import CheckSkipped
from curator_devkit.testing.subjects import StageSubject
from curator_devkit.testing.trial import prepared, process

LENGTH, TIMES = 1_000, 4
ALLOWED, CONSTANT = 4.5, 3_000  # for what happens once a batch
TEXT_COLUMNS = {"text", "html", "url"}
PIECES = (
    *("<a ", "<!--", "<b>", "</", "&", "&#1", "[[", "](", "(", "{", '{"a":', '"', "'", "`", "# ", "/*", '"""', "= "),
    *(
        "http://",
        "http://a.",
        "www.",
        "a@",
        "a@a.",
        "eyJ",
        "-----BEGIN ",
        "1.",
        "1",
        "1:",
        ".",
        "...",
        "\n",
        "\r\n",
        " ",
    ),
    *("\u0301", "e\u0301", "\u200d", "\u00c3\u00a9", "\u65e5", "x", "x ", "x\n", "a b\n", "x. ", "x\n\n", "\x00", "- "),
)


def hostile(length):
    return [(piece * length)[:length] for piece in PIECES]


@functools.cache
def examples():
    """The examples of the conformance test, which has one for each stage that needs one."""
    return runpy.run_path(str(Path(__file__).parents[1] / "conformance" / "test_text_conformance.py"))["EXAMPLES"]


def lines_executed(stage, tasks):
    """Return how many lines of Python a stage takes for tasks, and its outputs."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        outputs = process(stage, tasks).outputs
    finally:
        sys.settrace(before)
    return count, outputs


def table_of(texts, example, columns):
    """The first row of an example, once for each text, with the text in every column that holds text."""
    row = example.data.slice(0, 1) if example.num_items else None
    data = {name: pa.array(texts, pa.string()) for name in columns if name in TEXT_COLUMNS}
    for name in columns:
        if name not in data and name not in (SOURCE_COLUMN, ROW_COLUMN):
            data[name] = pa.concat_arrays(row.column(name).chunks * len(texts))
    data[SOURCE_COLUMN] = pa.array(["example.jsonl"] * len(texts), pa.string()).dictionary_encode()
    data[ROW_COLUMN] = pa.array(range(len(texts)), pa.int64())
    return type(example)(data=pa.table(data), task_id="3f2a/0")


class ComparesAll:
    """Does the square of the work for one kind of text, which the count has to show."""

    batch_size = 1

    def process_batch(self, tasks):
        for text in tasks[0].data.column("text").to_pylist():
            for end in range(0, len(text) * text.startswith("<!--"), 4):
                for _ in range(end):
                    pass
        return tasks


def test_square_work_is_noticed():
    example = TableBatch(data=pa.table({"text": [""]}))
    counts = [
        lines_executed(ComparesAll(), [table_of(hostile(length), example, ["text"])])[0]
        for length in (LENGTH, LENGTH * TIMES)
    ]
    assert counts[1] > ALLOWED * counts[0] + CONSTANT


STAGES = sorted(name for name, each in default_registry().stages.items() if each.plugin.name == "text")


@pytest.mark.parametrize("name", STAGES)
def test_hostile_text_is_linear_work(name):
    registered = default_registry().stages[name]
    try:
        subject = StageSubject(registered.load(), registered=registered, example=examples().get(name))
        stage, example = subject.stage, subject.tasks[0]
    except (CheckSkipped, MissingPackageError) as error:
        pytest.skip(str(error))
    stages = stage.decompose() if isinstance(stage, CompositeStage) else [stage]
    columns = columns_of(stage.inputs()) or ["text"] * isinstance(example, TableBatch)
    if not TEXT_COLUMNS.intersection(columns):
        pytest.skip("reads no text column")
    warm, short, long = (
        [table_of(hostile(length), example, columns)] for length in (LENGTH // 2, LENGTH, LENGTH * TIMES)
    )
    for part in stages:
        with prepared(part) as worker:
            warm = process(worker, warm).outputs  # compiles kernels; other text, since results are kept by text
            before, short = lines_executed(worker, short)
            after, long = lines_executed(worker, long)
        assert after <= ALLOWED * before + CONSTANT
