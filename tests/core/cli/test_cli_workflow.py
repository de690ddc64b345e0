"""Workflows from a file: run, go on, validate, and what is wrong with the file."""

import json
from pathlib import Path

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
        ("name: unique", "stages: [core.sample]", "stages or a workflow, not both"),
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
