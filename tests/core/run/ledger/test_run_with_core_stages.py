"""A run whose stages have other names and another distribution now is resumed: nothing about its output has changed."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from curator_core import Pipeline
from curator_core.cli import main
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.registry import default_registry
from curator_core.run.ledger.former_names import as_named_today
from curator_core.run.ledger.identity import differences, plan_identity
from curator_core.values.errors import ConfigError

RUN = Path(__file__).parent / "run_with_core_stages"
MODIFIED_NS = 1_767_225_600 * 10**9
DONE_WHEN_KILLED = 2
LISTED = {"paths": "in", "block_bytes": 1, "extensions": None, "limit_files": None, "splittable": False}
OF_TABLES = {"format": None, "columns": None, "schema": None, "max_columns": 1000}

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the paths of the run go through /proc/self/cwd, which Linux has"
)


@pytest.fixture
def left_by(tmp_path, monkeypatch):
    """Put a copy of the run, finished or killed, into the working directory, and return its pipeline."""
    monkeypatch.chdir(tmp_path)

    def copy(state):
        shutil.copytree(RUN / "in", "in")
        for path in Path("in").iterdir():
            os.utime(path, ns=(MODIFIED_NS, MODIFIED_NS))
        shutil.copytree(RUN / state / "run", "run")
        shutil.copytree(RUN / state / "out", "out")
        return Pipeline.from_yaml(RUN / "pipeline.yaml")

    return copy


def files_in(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_a_killed_run_is_resumed_to_the_same_files_and_counts(left_by):
    result = left_by("killed").run(run_dir="run", resume=True)
    assert result.resumed_sources == DONE_WHEN_KILLED
    assert files_in("out") == files_in(RUN / "finished/out")
    expected = json.loads((RUN / "finished/run/result.json").read_text())
    today = default_registry().canonical_name
    rows = [(today(each["name"]), each["rows_in"], each["rows_out"]) for each in expected["stages"]]
    assert [(each["name"], each["rows_in"], each["rows_out"]) for each in result.to_dict()["stages"]] == rows
    assert result.dropped == {today(name): counts for name, counts in expected["dropped"].items()}
    assert [(each.stage, each.row_id) for each in result.quarantined] == [("table.where", "1-2")]


def test_dropped_rows_of_before_and_of_now_are_in_one_place(left_by):
    left_by("killed").run(run_dir="run", resume=True)
    assert [path.name for path in Path("run/dropped").iterdir()] == ["table.where"]
    assert files_in("run/dropped/table.where").keys() == files_in(RUN / "finished/run/dropped/core.where").keys()


def test_a_finished_run_is_left_alone(left_by):
    pipeline = left_by("finished")
    before = files_in("out")
    result = pipeline.run(run_dir="run", resume=True)
    assert result.was_finished
    assert files_in("out") == before
    assert result.stats["table.where"].rows_in == 16


def test_its_quarantine_is_listed_and_retried_by_either_name(left_by, capsys):
    left_by("finished")
    for stage in ("core.where", "table.where"):
        assert main(["quarantine", "ls", "run", "--stage", stage, "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["records"]) == 1
    plan = Path("run/plan.yaml")
    with pytest.raises(ConfigError, match=r"plan\.yaml:11: .*share: unknown parameter, did you mean 'fraction'"):
        retry_quarantined("run")
    today = plan.read_text().replace("share: 0.9", "fraction: 1").replace("id_field", "id_column")
    plan.write_text(today.replace("CAST(year AS INTEGER) >= 1990", "year = 'n/a'"))
    result = retry_quarantined("run", choose=lambda record: record.stage == "table.where")
    assert result.is_complete
    (output,) = result.outputs
    assert Path(output.data[0].path).read_text() == '{"id":"1-2","year":"n/a"}\n'


def test_a_changed_parameter_is_still_told_by_the_name_of_today(left_by):
    left_by("killed")
    old = json.loads(Path("run/ledger.jsonl").read_text().splitlines()[0])["identity"]
    text = (RUN / "pipeline.yaml").read_text().replace("fraction: 0.9", "fraction: 0.8")
    assert differences(old, plan_identity(Pipeline.from_yaml(text).build()), default_registry().canonical_name) == [
        "stage 'table.sample': fraction 0.9 → 0.8"
    ]


@pytest.mark.parametrize("cls", ["ListFiles", "curator_core.io.list_stage.ListFiles"])
def test_a_listing_of_before_is_that_of_files_or_that_of_tables(cls):
    def stage(name, params, code="curator-core 0.1.0"):
        return {"name": "files", "class": name, "code": code, "version": "1", "params": params}

    def found(old, new):
        return differences({"stages": [old]}, {"stages": [new]}, default_registry().canonical_name)

    assert found(stage(cls, LISTED | OF_TABLES), stage("ListFiles", LISTED)) == []
    tables = LISTED | OF_TABLES | {"format": "jsonl"}
    assert found(stage(cls, tables), stage("ListTables", tables, "curator-table 0.1.0")) == []
    assert found(stage(cls, tables), stage("ListTables", tables | {"columns": ["a"]}, "curator-table 0.1.0")) != []
    assert found(stage(cls, LISTED | OF_TABLES), stage("ListFiles", LISTED | {"splittable": True})) != []
    assert found(stage(cls, tables), stage("ListTables", tables, "curator-table 0.2.0")) != []
    assert as_named_today(stage(cls, tables, "acme 1"), str)["class"] == cls
