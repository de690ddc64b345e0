"""A run whose stages for any table were named after text, and were of curator-text, is resumed."""

import os
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curator_core import Pipeline
from curator_core.values.errors import ResumeError

RUN = Path(__file__).parent / "run_with_text_stages"
MODIFIED_NS = 1_767_225_600 * 10**9
SOURCES = 6

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the paths of the run go through /proc/self/cwd, which Linux has"
)


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in", "out", "run"):
        shutil.copytree(RUN / name, name)
    for path in Path("in").iterdir():
        os.utime(path, ns=(MODIFIED_NS, MODIFIED_NS))
    return RUN / "pipeline.yaml"


def forget_the_end():
    """Leave the ledger as it was when the last two source tasks were under way, and their files not yet written."""
    ledger = Path("run/ledger.jsonl")
    lines = ledger.read_text().splitlines(keepends=True)
    last = [line for line in lines if line.startswith('{"done"')][-2:]
    ledger.write_text("".join(line for line in lines[:-1] if line not in last))
    for line in last:
        next(Path("out").glob(f"part-{line[9:25]}*")).unlink()


def tables(folder):
    return {path.name: pq.read_table(path) for path in Path(folder).glob("*.parquet")}


def test_it_is_resumed_to_the_same_files(pipeline):
    forget_the_end()
    result = Pipeline.from_yaml(pipeline).run(run_dir="run", resume=True)
    assert result.resumed_sources == SOURCES - 2
    assert tables("out") == tables(RUN / "out")
    assert [stage["name"] for stage in result.to_dict()["stages"]] == [
        "table.read_jsonl.files",
        "table.read_jsonl",
        "table.add_id",
        "table.shuffle",
        "table.resample",
        "table.write_parquet",
    ]


def test_the_names_of_today_resume_it_too(pipeline):
    forget_the_end()
    today = pipeline.read_text().replace("text.", "table.")
    assert Pipeline.from_yaml(today).run(run_dir="run", resume=True).resumed_sources == SOURCES - 2


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("block_bytes: 60", "block_bytes: 61", "stage 'table.read_jsonl': block_bytes 60 → 61"),
        ("score]", "score], max_expansion: 7", "stage 'table.read_jsonl': max_expansion 1000 → 7"),
        ("seed: 3", "seed: 4", "stage 'table.shuffle': seed 3 → 4"),
    ],
)
def test_a_change_is_noticed(pipeline, before, after, message):
    with pytest.raises(ResumeError, match=message):
        Pipeline.from_yaml(pipeline.read_text().replace(before, after)).run(run_dir="run", resume=True)
