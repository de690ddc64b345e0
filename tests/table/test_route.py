"""Rows that go to a folder for each value."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import ConfigError, StageError
from curator_table import ReadJsonl, WriteRouted
from curator_table.stages.route import folder_of


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(folder):
    return [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()]


def test_each_value_has_its_folder(tmp_path):
    table = pa.table({"text": ["a", "b", "c", "d", "e"], "lang": ["en", "de", "en", None, "a/b"]})
    stage = WriteRouted(str(tmp_path), column="lang", columns=["text"])
    out = stage.process(TableBatch(data=table, task_id="3f2a/0"))
    written = {path.parent.name: [row["text"] for row in read_lines(path.parent)] for path in tmp_path.rglob("*.jsonl")}
    assert written == {"en": ["a", "c"], "de": ["b"], "(null)": ["d"], "a%2Fb": ["e"]}
    assert sorted(out.paths) == sorted(str(path) for path in tmp_path.rglob("*.jsonl"))
    assert out.meta["rows"] == 5
    assert {path.name for path in tmp_path.rglob("*.jsonl")} == {"part-3f2a-0.jsonl"}
    assert [row["text"] for row in read_lines_with_reader(tmp_path)] == ["d", "e", "b", "a", "c"]


def read_lines_with_reader(folder):
    result = Pipeline(stages=[ReadJsonl(str(folder))]).run(LocalExecutor())
    return [row for task in result for row in task.data.to_pylist()]


def test_output_of_a_source_task_is_removed_from_all_folders(tmp_path):
    stage = WriteRouted(str(tmp_path), column="n", format="parquet")
    for task_id in ("aa/0", "aa/1", "bb"):
        stage.process(TableBatch(data={"n": [1, 2]}, task_id=task_id))
    assert len(list(tmp_path.rglob("*.parquet"))) == 6
    stage.remove_output(["aa"], only_torn=True)
    assert len(list(tmp_path.rglob("*.parquet"))) == 6
    stage.remove_output(["aa"], only_torn=False)
    assert {path.name for path in tmp_path.rglob("*.parquet")} == {"part-bb.parquet"}
    WriteRouted(str(tmp_path / "gone")).remove_output(["aa"], only_torn=False)


def test_a_routed_run_is_resumed_with_the_same_files(tmp_path):
    for part in range(3):
        write_lines(
            tmp_path / "in" / f"{part}.jsonl",
            [{"text": f"{part}{n}", "bucket": "hi" if n % 2 else "lo"} for n in range(4)],
        )

    def run(name, **options):
        stages = [ReadJsonl(str(tmp_path / "in"), block_bytes=100), WriteRouted(str(tmp_path / name))]
        return Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / f"{name}-run", **options)

    run("whole")
    run("again")
    lost = min((tmp_path / "again").rglob("*.jsonl"))
    lost.unlink()
    run("again", resume="changed")
    files = {path.relative_to(tmp_path / "whole"): path.read_bytes() for path in (tmp_path / "whole").rglob("*.jsonl")}
    assert {
        path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.jsonl")
    } == files
    assert {path.parent.name for path in files} == {"hi", "lo"}


@given(values=st.lists(st.none() | st.text(), unique=True))
def test_different_values_have_different_folders(values):
    names = [folder_of(value) for value in values]
    assert len(set(names)) == len(values)
    assert all(
        name not in ("", ".", "..") and "/" not in name and name[0] not in "._" and len(name) < 200 for name in names
    )


def test_values_that_cannot_name_folders_are_errors(tmp_path):
    with pytest.raises(StageError, match="holds Float64"):
        WriteRouted(str(tmp_path), column="x").process(TableBatch(data={"x": [0.5]}, task_id="1"))
    with pytest.raises(StageError, match="3 values in a batch"):
        WriteRouted(str(tmp_path), column="x", max_values=2).process(TableBatch(data={"x": [1, 2, 3]}, task_id="1"))
    with pytest.raises(ConfigError, match="compression"):
        WriteRouted(str(tmp_path), format="parquet", compression="gz")
