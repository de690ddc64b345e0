"""Files of another run in the output folder: noticed, refused, replaced or kept, as the caller says."""

import json

import fsspec
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.cli import main
from curator_core.values.errors import ConfigError
from curator_text import ReadJsonl, WordCount, WriteJsonl, WriteParquet


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, words in (("first", 3), ("second", 8)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jsonl").write_text(json.dumps({"text": "word " * words}) + "\n")
    return tmp_path


def run(read, *more, out="out", **options):
    return Pipeline(stages=[ReadJsonl(read), *more, WriteJsonl(out)]).run(LocalExecutor(), **options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_parts_of_an_earlier_run_with_other_input_are_reported(folder):
    first = run("first")
    assert first.warnings == []
    second = run("second")
    (warning,) = second.warnings
    assert "'out' holds 1 file that this run did not write" in warning
    assert first.outputs[0].rpartition("/")[2] in warning
    assert "existing" in warning
    assert f"warning: {warning}" in second.report()
    assert second.to_dict()["warnings"] == [warning]


def test_the_same_run_again_replaces_its_own_files_without_a_warning(folder):
    first, second = run("first"), run("first")
    assert second.warnings == []
    assert second.outputs == first.outputs


def test_a_part_that_the_repeated_run_does_not_make_any_more_is_reported(folder):
    run(["first", "second"])
    kept = run(["first", "second"], WordCount(min_words=100))
    assert any("1 file that this run did not write" in each for each in kept.warnings)


def test_error_refuses_before_anything_is_done(folder):
    run("first", run_dir="run")
    before = (folder / "run" / "ledger.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=r"'out' holds 1 file that this run did not write, such as 'part-"):
        run("second", run_dir="run", existing="error")
    assert len(names(folder / "out")) == 1
    assert (folder / "run" / "ledger.jsonl").read_bytes() == before  # so that the earlier run can still be resumed
    assert run("second", out="new", existing="error").warnings == []


def test_replace_removes_files_of_other_runs_when_the_run_is_done(folder):
    run("first")
    (folder / "out" / "notes.jsonl").write_text("{}\n")  # not what a run calls its files
    (folder / "out" / ".hidden.jsonl").touch()
    (folder / "out" / "part-1.parquet").touch()  # of another format
    result = run("second", existing="replace")
    written = result.outputs[0].rpartition("/")[2]
    assert names(folder / "out") == sorted([".hidden.jsonl", "notes.jsonl", "part-1.parquet", written])
    assert "1 file of other runs was removed from 'out'" in result.warnings[0]
    assert "such as 'notes.jsonl'" in result.warnings[1]


def test_keep_says_nothing(folder):
    run("first")
    assert run("second", existing="keep").warnings == []


def test_a_resumed_run_knows_its_own_files(folder):
    run("first", run_dir="run")
    (folder / "first" / "b.jsonl").write_text(json.dumps({"text": "word"}) + "\n")
    for existing in ("error", "warn", "replace"):
        result = run("first", run_dir="run", resume="changed", existing=existing)
        assert result.warnings == []
    assert len(names(folder / "out")) == len(result.outputs)


def test_files_of_other_formats_hidden_ones_and_folders_do_not_count(folder):
    run("first")
    result = Pipeline(stages=[ReadJsonl("second"), WriteParquet("out")]).run(LocalExecutor(), existing="error")
    (folder / "out" / "_SUCCESS.jsonl").touch()
    assert result.warnings == []


def test_remote_folders_are_listed_once(folder, monkeypatch):
    memory = fsspec.filesystem("memory")
    run("first", out="memory://shared/out")
    listed = []
    usual = type(memory).ls
    monkeypatch.setattr(type(memory), "ls", lambda self, path, **more: listed.append(path) or usual(self, path, **more))
    result = run("second", out="memory://shared/out")
    assert "'memory://shared/out' holds 1 file" in result.warnings[0]
    assert listed.count("/shared/out") == 1
    memory.rm("/shared", recursive=True)


def test_existing_is_checked(folder):
    with pytest.raises(ConfigError, match="got 'overwrite'"):
        run("first", existing="overwrite")


PIPELINE = """
version: 1
stages:
  - table.read_jsonl: {paths: "${INPUT}"}
  - table.write_jsonl: {path: out}
executor: local
"""


def test_from_the_command_line(folder, capsys):
    (folder / "p.yaml").write_text(PIPELINE)
    assert main(["run", "p.yaml", "--set", "INPUT=first"]) == 0
    capsys.readouterr()
    assert main(["run", "p.yaml", "--set", "INPUT=second", "--existing", "error"]) == 2
    assert "did not write" in capsys.readouterr().err
    assert main(["run", "p.yaml", "--set", "INPUT=second", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "warning: 'out' holds 1 file that this run did not write" in printed.err
    assert main(["run", "p.yaml", "--set", "INPUT=second", "--existing", "replace", "--json"]) == 0
    assert "was removed" in json.loads(capsys.readouterr().out)["warnings"][0]
    assert len(names(folder / "out")) == 1
