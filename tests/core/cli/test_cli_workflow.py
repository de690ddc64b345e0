"""Workflows from a file: run, go on, validate, and what is wrong with the file."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

WORKFLOW = """
version: 1
name: unique
workflow:
  dedup.exact:
    input_path: "${INPUT}"
    cache_path: "${CACHE}"
    output_path: "${OUTPUT}"
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in").mkdir()
    lines = [json.dumps({"text": text}) for text in ("a", "b", "a", "a")]
    (tmp_path / "in" / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "w.yaml").write_text(WORKFLOW, encoding="utf-8")
    variables = {"INPUT": "in", "CACHE": "cache", "OUTPUT": "out"}
    settings = [f"{name}={tmp_path / each}" for name, each in variables.items()]
    return [str(tmp_path / "w.yaml"), *(part for setting in settings for part in ("--set", setting))]


def test_a_workflow_runs_and_says_what_it_came_to(cli, files, tmp_path):
    done = cli("run", *files)
    assert done.status == 0, done.err
    assert "4 documents: 2 kept, 2 removed" in done.out
    assert "exact deduplication: remove" in done.err
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("part-*")]
    assert written == ['{"text":"a"}\n{"text":"b"}\n']


def test_the_result_as_json_and_going_on(cli, files, tmp_path):
    run_dir = str(tmp_path / "run")
    first = json.loads(cli("run", *files, "--json", "--quiet", "--run-dir", run_dir).out)
    assert (first["documents"], first["removed"], first["skipped"]) == (4, 2, [])
    again = json.loads(cli("run", *files, "--json", "--quiet", "--run-dir", run_dir, "--resume").out)
    assert again["removed"] == 2
    assert set(again["skipped"]) == set(again["steps"])


def test_validate_takes_workflows_and_other_commands_say_so(cli, files):
    assert "the workflow 'exact deduplication'" in cli("validate", *files).out
    refused = cli("explain", *files)
    assert refused.status == 2
    assert "is a workflow" in refused.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dedup.exact", "dedup.exakt", "did you mean 'dedup.exact'"),
        ("cache_path", "cash_path", "did you mean 'cache_path'"),
        ("name: unique", "stages: [table.sample]", "there can be only one of stages, workflow, steps"),
    ],
)
def test_what_is_wrong_with_the_file(cli, files, old, new, message):
    path = Path(files[0])
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    failed = cli("run", *files)
    assert failed.status == 2
    assert message in failed.err
    assert "w.yaml:" in failed.err


def test_options_of_pipelines_are_refused(cli, files):
    assert "not for workflows" in cli("run", *files, "--limit", "2").err


def test_workflows_are_listed_and_shown(cli):
    assert "dedup.exact" in cli("workflows").out
    assert {each["name"] for each in cli("workflows", "--json").json} >= {"dedup.exact", "dedup.fuzzy", "dedup.lines"}
    page = cli("workflows", "show", "dedup.fuzzy").out
    assert "num_bands: int (default 20)" in page
    assert "Bands of a signature." in page
    assert cli("workflows", "show", "dedup.fuzzy", "--json").json["parameters"][0]["name"] == "input_path"
    assert cli("workflows", "show").status == 2


STEPS = """
version: 1
name: clean-and-unique
steps:
  - name: clean
    stages:
      - table.read_jsonl: {paths: "${INPUT}"}
      - table.where: {expression: "text != 'b'"}
      - table.write_jsonl: {path: "${CLEAN}"}
  - name: unique
    workflow:
      dedup.exact: {input_path: "${CLEAN}", cache_path: "${CACHE}", output_path: "${UNIQUE}"}
  - name: table
    stages:
      - table.read_jsonl: {paths: "${UNIQUE}"}
      - table.write_parquet: {path: "${OUTPUT}"}
"""


@pytest.fixture
def steps(files, tmp_path):
    (tmp_path / "s.yaml").write_text(STEPS, encoding="utf-8")
    variables = {"INPUT": "in", "CLEAN": "clean", "CACHE": "cache", "UNIQUE": "unique", "OUTPUT": "out"}
    settings = [f"{name}={tmp_path / each}" for name, each in variables.items()]
    return [str(tmp_path / "s.yaml"), *(part for setting in settings for part in ("--set", setting))]


def test_pipelines_and_workflows_are_steps_of_one_file(cli, steps, tmp_path):
    assert "the workflow 'clean-and-unique'" in cli("validate", *steps).out
    done = cli("run", *steps, "--run-dir", str(tmp_path / "run"))
    assert done.status == 0, done.err
    assert "clean-and-unique: unique: remove" in done.err
    assert "3 documents: 1 kept, 2 removed" in done.out
    (written,) = (tmp_path / "out").glob("part-*.parquet")
    assert pq.read_table(written).column("text").to_pylist() == ["a"]
    again = json.loads(cli("run", *steps, "--run-dir", str(tmp_path / "run"), "--resume", "--json", "--quiet").out)
    assert again["skipped"] == ["clean", "table", "unique"]
    assert again["steps"]["unique"]["removed"] == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  - name: clean\n    stages", "  - stages", "s.yaml:5: steps[0]: a step needs a name"),
        ("name: table", "name: clean", "another step is called 'clean' already"),
        ("    workflow:\n      dedup", "    workflows:\n      dedup", "unknown key, did you mean 'workflow'?"),
        ("table.write_parquet", "text.write_parket", "s.yaml:16: steps[2].stages[1]"),
        ("table.write_parquet: {", "table.write_parquet: {file_bytes: 1, ", "unknown parameter"),
        ("table.where", "text.word_count: {text_column: txt}\n      - table.where", "s.yaml:8"),
    ],
)
def test_what_is_wrong_with_a_late_step_is_said_before_the_first_runs(cli, steps, tmp_path, old, new, message):
    path = Path(steps[0])
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    failed = cli("run", *steps)
    assert failed.status == 2
    assert message in failed.err
    assert not (tmp_path / "clean").exists()


@pytest.mark.parametrize("reader", ["pipeline", "workflow"])
def test_a_step_that_lost_everything_is_named_by_the_step_that_misses_its_output(cli, steps, reader):
    path = Path(steps[0])
    text = path.read_text(encoding="utf-8").replace("text != 'b'", "text = 'z'")
    if reader == "pipeline":
        text = text[: text.index("  - name: unique")] + text[text.index("  - name: table") :]
        text = text.replace("${UNIQUE}", "${CLEAN}")
        steps = [each for each in steps if not each.startswith(("CACHE", "UNIQUE"))]
        steps = [steps[0], *(part for each in steps if "=" in each for part in ("--set", each))]
    path.write_text(text, encoding="utf-8")
    failed = cli("run", *steps)
    assert failed.status == 2
    assert "step 'clean' wrote nothing: no rows are left of 4: 'table.where' dropped 4 (not_matched: 4)" in failed.err


def test_a_file_of_steps_that_is_run_again_doubles_nothing_unnoticed(cli, steps, tmp_path):
    assert cli("run", *steps).status == 0
    again = cli(
        "run", *steps, "--quiet"
    )  # the files of the first step are new, and so are the names of what comes of them
    assert "warning: unique: remove: " in again.err
    assert f"warning: table: {str(tmp_path / 'out')!r} holds 1 file that this run did not write" in again.err
    refused = cli("run", *steps, "--existing", "error")
    assert refused.status == 2
    assert f"{str(tmp_path / 'clean')!r} holds 1 file" in refused.err
    replaced = cli("run", *steps, "--existing", "replace", "--json", "--quiet")
    assert any("removed from" in each for each in replaced.json["warnings"])
    assert pq.read_table(tmp_path / "out").column("text").to_pylist() == ["a"]
