"""A plugin of somebody else, written from the docs: filters, functions, a model, a reader, a writer, an executor."""

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

PLUGIN = """
from curator_core.hookspecs import hookimpl
from curator_core.specs import ExecutorSpec, StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages():
    home = "curator_plain.rules"
    return [
        StageSpec("not_empty", target=f"{home}:not_empty", summary="Drop empty texts.", kind="filter"),
        StageSpec("enough_words", target=f"{home}:enough_words", summary="Keep texts of some words.", kind="filter"),
        StageSpec("density", target=f"{home}:density", summary="Add words per line.", produces=("density",)),
        StageSpec("repeat", target=f"{home}:repeat", summary="Repeat each batch."),
        StageSpec("lengths", target=f"{home}:Lengths", summary="Add lengths.", produces=("length",)),
        StageSpec("read_logs", target="curator_plain.files:ReadLogs", summary="Read logs.", kind="reader"),
        StageSpec("write_logs", target="curator_plain.files:WriteLogs", summary="Write logs.", kind="writer"),
    ]


@hookimpl
def curator_executors():
    return [ExecutorSpec("pool", target="curator_plain.pool:PoolExecutor", summary="A pool of threads.")]
"""

FILES = '''
from dataclasses import dataclass

import pyarrow as pa

from curator_core.sdk import FileReader, FileWriter


@dataclass
class ReadLogs(FileReader):
    """Read logs, a line a row."""

    extensions = (".log",)
    name = "plain.read_logs"

    def outputs(self):
        return ["text", *super().outputs()]

    def read_slice(self, piece):
        with self.open(piece) as file:
            yield pa.table({"text": pa.array([line.decode().rstrip() for line in file], pa.string())})


@dataclass
class WriteLogs(FileWriter):
    """Write texts, one a line.

    Args:
        level: What each line begins with.
    """

    level: str = "INFO"
    extension = ".log"
    name = "plain.write_logs"

    def inputs(self):
        return ["text"]

    def write(self, table, file):
        for text in table["text"].to_pylist():
            file.write(f"{self.level} {text}\\n".encode())
'''

POOL = re.search(
    r'```python title="acme_pool.py"\n(.*?)```', (DOCS / "executors.md").read_text(encoding="utf-8"), re.DOTALL
)[1]
"""The executor that the docs show."""

RULES = '''
from dataclasses import dataclass

import polars as pl

from curator_core.sdk import Filter, ModelStage, TableBatch, processing_stage, report, row_filter, row_map

not_empty = Filter.of(pl.col("text").str.len_chars() > 0, reason="empty", name="plain.not_empty")


@row_filter(name="plain.enough_words", reason="few_words")
def enough_words(text: str, *, min_words: int = 2) -> bool:
    """Keep texts of some words.

    Args:
        min_words: How many words.
    """
    return len(text.split()) >= min_words


@row_map(name="plain.density", output="density")
def density(text: str, lines: int) -> float:
    """Add words per line."""
    return len(text.split()) / lines


@processing_stage(name="plain.repeat", inputs=["text"])
def repeat(batch: TableBatch, *, times: int = 1) -> TableBatch:
    """Repeat the rows of each batch."""
    batch.check_column("text")
    report().count(repeated=times)
    return batch.with_column("text", batch.text("text") + "!" * (times - 1))


@dataclass
class Lengths(ModelStage):
    """Add the length of each text.

    Args:
        text_column: Column with the text.
    """

    text_column: str = "text"
    name = "plain.lengths"
    uses_torch = False

    def inputs(self):
        return [self.text_column]

    def outputs(self):
        return ["length"]

    def load(self, device):
        return len

    def predict(self, model, rows):
        return [model(text) for text in rows[self.text_column].to_pylist()]
'''

PIPELINE = """
version: 1
name: plain
stages:
  - text.read_jsonl: {paths: in.jsonl}
  - plain.not_empty
  - plain.enough_words: {min_words: 3}
  - plain.density
  - plain.repeat: {times: 2}
  - plain.lengths:
    with: {model_batch_size: 2, device: cpu}
  - text.write_jsonl: {path: out}
"""

ROWS = [
    {"text": "a b c", "lines": 1},
    {"text": "", "lines": 1},
    {"text": "a b", "lines": 1},
    {"text": None, "lines": 1},
    {"text": "a b c d", "lines": 0},
    {"text": "a b c d", "lines": 2},
]


@pytest.fixture
def curator(tmp_path):
    package = tmp_path / "site" / "curator_plain"
    package.mkdir(parents=True)
    for name, code in {"__init__": "", "plugin": PLUGIN, "rules": RULES, "files": FILES, "pool": POOL}.items():
        (package / f"{name}.py").write_text(code, encoding="utf-8")
    info = tmp_path / "site" / "curator_plain-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-plain\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[curator.plugins]\nplain = curator_plain.plugin\n", encoding="utf-8")
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    (tmp_path / "p.yaml").write_text(PIPELINE, encoding="utf-8")

    def call(*arguments, status=0):
        paths = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-m", "curator_core", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": paths},
            cwd=tmp_path,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def test_a_pipeline_file_names_and_configures_them(curator, tmp_path):
    curator("run", "p.yaml", "--executor", "local", "--run-dir", "run", status=3)
    (file,) = (tmp_path / "out").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert rows == [
        {"text": "a b c!", "lines": 1, "density": 3.0, "length": 6},
        {"text": "a b c d!", "lines": 2, "density": 2.0, "length": 8},
    ]
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    dropped = {stage["name"]: stage["dropped"] for stage in result["stages"] if stage["dropped"]}
    assert dropped == {"plain.not_empty": {"empty": 1, "missing_value": 1}, "plain.enough_words": {"few_words": 1}}
    assert "ZeroDivisionError" in curator("quarantine", "ls", "run")
    written = (tmp_path / "run" / "plan.yaml").read_text(encoding="utf-8")
    assert "plain.not_empty" in written
    assert "min_words: 3" in written
    again = curator("run", "p.yaml", "--executor", "local", "--run-dir", "run", "--resume", status=3)
    assert "plain.enough_words: min_words" not in again
    changed = PIPELINE.replace("min_words: 3", "min_words: 4")
    (tmp_path / "p.yaml").write_text(changed, encoding="utf-8")
    refused = curator("run", "p.yaml", "--executor", "local", "--run-dir", "run", "--resume", status=2)
    assert "min_words 3 → 4" in refused


LOGS = """
version: 1
name: logs
stages:
  - plain.read_logs: {paths: logs, block_bytes: 1}
  - plain.not_empty
  - plain.enough_words: {min_words: 2}
  - plain.lengths:
    with: {device: cpu}
  - plain.write_logs: {path: written, level: WARN}
executor: {name: plain.pool, threads: 3}
"""


def test_its_files_are_read_and_written_on_its_executor(curator, tmp_path):
    (tmp_path / "logs").mkdir()
    for number in range(20):
        (tmp_path / "logs" / f"{number:02}.log").write_text(f"started job {number}\n\nstopped\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(LOGS, encoding="utf-8")
    curator("run", "p.yaml", "--run-dir", "run")
    files = {path.name: path.read_bytes() for path in (tmp_path / "written").iterdir()}
    assert sorted(files.values()) == sorted(f"WARN started job {number}\n".encode() for number in range(20))
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    assert {stage["name"]: stage["rows_out"] for stage in result["stages"]}["plain.read_logs"] == 60
    gone = min((tmp_path / "written").iterdir())
    gone.unlink()
    curator("run", "p.yaml", "--run-dir", "run", "--resume=changed")
    assert {path.name: path.read_bytes() for path in (tmp_path / "written").iterdir()} == files


def test_wrong_parameters_are_found_with_their_line(curator, tmp_path):
    (tmp_path / "p.yaml").write_text(PIPELINE.replace("min_words: 3", "mni_words: 3"), encoding="utf-8")
    assert "p.yaml:7: stages[2] plain.enough_words.mni_words: unknown parameter, did you mean 'min_words'?" in curator(
        "validate", "p.yaml", status=2
    )
    (tmp_path / "p.yaml").write_text(PIPELINE.replace("min_words: 3", "min_words: many"), encoding="utf-8")
    assert "plain.enough_words.min_words: expected" in curator("validate", "p.yaml", status=2)


def test_listings_show_their_parameters(curator):
    shown = curator("stages", "show", "plain.enough_words")
    assert "How many words." in shown
    assert "min_words" in curator("schema")


def test_they_pass_the_conformance_kit(curator, tmp_path):
    test_file = tmp_path / "test_plain.py"
    code = """
        from pathlib import Path

        from curator_core import EmptyTask, TableBatch
        from curator_devkit.testing import Example, parametrize_with_checks
        from curator_plain.files import ReadLogs, WriteLogs

        table = Example(tasks=[TableBatch(data={"text": ["a b", None, ""], "lines": [1, 2, 3]})])
        missing = {
            "check_plugin_ships_type_information": "a test",
            "check_plugin_depends_on_core": "a test",
        }

        log = TableBatch(data={"text": ["a", "b"]}, task_id="3f2a")
        Path("a.log").write_text("started\\nstopped\\n")
        examples = {
            "plain.density": table,
            "plain.repeat": table,
            "plain.read_logs": Example(stage=ReadLogs("a.log"), tasks=[EmptyTask()]),
            "plain.write_logs": Example(stage=WriteLogs("written"), tasks=[log]),
        }

        @parametrize_with_checks("plain", examples=examples, expected_failures={"plain": missing})
        def test_conformance(check):
            check()
    """
    test_file.write_text(textwrap.dedent(code), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    paths = os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)])
    done = subprocess.run(
        [*command, str(test_file)], capture_output=True, text=True, check=False, env={"PYTHONPATH": paths}, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout


def test_they_are_written_with_the_public_surface_alone():
    imported = {
        node.module
        for code in (PLUGIN, RULES, FILES, POOL)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("curator")
    }
    assert imported == {"curator_core.hookspecs", "curator_core.specs", "curator_core.sdk"}
