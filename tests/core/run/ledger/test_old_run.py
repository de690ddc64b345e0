"""A run directory that an earlier version left: resumed to the right end, or refused with the reason."""

import json
import os
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.registry import default_registry
from curator_core.run.ledger.identity import differences, plan_identity
from curator_core.values.errors import LedgerError, ResumeError

OLD_RUN = Path(__file__).parent / "old_run"
MODIFIED_NS = 1_767_225_600 * 10**9
DONE_WHEN_KILLED = 2
NUMBERS = 2
LEFT_OUT = ("busy_fraction", "workers", "queue_peak", "process_time_s", "setup_time_s", "retries", "failures")

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the paths of the old run go through /proc/self/cwd, which Linux has"
)


@pytest.fixture
def old_run(tmp_path, monkeypatch):
    """Put a copy of the old run, finished or killed, into the working directory."""
    monkeypatch.chdir(tmp_path)

    def copy(state):
        shutil.copytree(OLD_RUN / "in", "in")
        for path in Path("in").iterdir():
            os.utime(path, ns=(MODIFIED_NS, MODIFIED_NS))
        shutil.copytree(OLD_RUN / state / "run", "run")
        shutil.copytree(OLD_RUN / state / "out", "out")
        return Pipeline.from_yaml(OLD_RUN / "pipeline.yaml")

    return copy


def header():
    return json.loads(Path("run/ledger.jsonl").read_text().splitlines()[0])


def change_header(**values):
    first, *rest = Path("run/ledger.jsonl").read_text().splitlines(keepends=True)
    Path("run/ledger.jsonl").write_text(json.dumps({**json.loads(first), **values}) + "\n" + "".join(rest))


def as_of_today(pipeline):
    """Let the ledger be of the stages of today: a new version or parameter of them is the matter of another test."""
    change_header(identity=plan_identity(pipeline.build()))


def files_in(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def counts(stages):
    return [{key: value for key, value in stage.items() if key not in LEFT_OUT} for stage in stages]


def dropped_rows(folder):
    return {path.name: pq.read_table(path).to_pylist() for path in Path(folder).glob("run/dropped/*/*")}


def check_the_end(result, *, numbers_read_by="table.read_jsonl"):
    """Compare everything with what the old version left when nobody disturbed it.

    The numbers in ``2.jsonl`` are no text: the old version let the filter refuse them, that of today the reader.
    """
    expected = json.loads((OLD_RUN / "finished/run/result.json").read_text())
    today = default_registry().canonical_name
    rows = {today(stage["name"]): [stage["rows_in"], stage["rows_out"]] for stage in expected["stages"]}
    if numbers_read_by == "table.read_jsonl":
        rows["table.read_jsonl"][1] -= NUMBERS
        rows["text.word_count"][0] -= NUMBERS
    assert files_in("out") == files_in(OLD_RUN / "finished/out")
    assert result.outputs == expected["outputs"]
    assert {stage["name"]: [stage["rows_in"], stage["rows_out"]] for stage in result.to_dict()["stages"]} == rows
    assert result.dropped == expected["dropped"]
    assert dropped_rows(".") == dropped_rows(OLD_RUN / "finished")
    lines = (OLD_RUN / "finished/run/quarantine/records.jsonl").read_text().splitlines()
    torn, *numbers = [(today(record["stage"]), record["source"], record["rows"]) for record in map(json.loads, lines)]
    if numbers_read_by == "table.read_jsonl":
        numbers = [("table.read_jsonl", source, 1) for _, source, count in numbers for _ in range(count)]
    assert sorted((each.stage, each.source, each.rows) for each in result.quarantined) == sorted([torn, *numbers])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_killed_run_of_an_old_version_is_resumed_to_the_same_files(old_run, threads):
    pipeline = old_run("killed")
    as_of_today(pipeline)
    result = pipeline.run(LocalExecutor(threads=threads), run_dir="run", resume=True)
    assert result.resumed_sources == DONE_WHEN_KILLED
    check_the_end(result)
    uninterrupted = Pipeline.from_yaml(OLD_RUN / "pipeline.yaml").run(run_dir="run")
    assert counts(result.to_dict()["stages"]) == counts(uninterrupted.to_dict()["stages"])


def test_a_finished_run_of_an_old_version_is_left_alone(old_run):
    pipeline = old_run("finished")
    as_of_today(pipeline)
    before = files_in("out")
    result = pipeline.run(run_dir="run", resume=True)
    assert result.was_finished
    check_the_end(result, numbers_read_by="text.word_count")
    assert files_in("out") == before


def test_other_stages_than_those_of_the_old_version_are_refused_by_name(old_run):
    """While nothing has changed, it is resumed as it is; from the first change on, the refusal must name it."""
    pipeline = old_run("killed")
    changed = differences(header()["identity"], plan_identity(pipeline.build()), pipeline.registry.canonical_name)
    if changed:
        with pytest.raises(ResumeError) as refused:
            pipeline.run(run_dir="run", resume=True)
        assert all(line in str(refused.value) for line in changed)
    result = pipeline.run(run_dir="run", resume="changed")
    assert result.resumed_sources == (0 if changed else DONE_WHEN_KILLED)
    check_the_end(result)


def test_another_version_of_the_code_is_refused_by_name_and_redone_when_asked_for(old_run):
    pipeline = old_run("killed")
    as_of_today(pipeline)
    identity = header()["identity"]
    code = identity["stages"][-1]["code"]
    identity["stages"][-1]["code"] = "curator-text 0.0.1"
    change_header(identity=identity)
    with pytest.raises(ResumeError, match=f"stage 'table.write_jsonl': code curator-text 0.0.1 → {code}"):
        pipeline.run(run_dir="run", resume=True)
    check_the_end(pipeline.run(run_dir="run", resume="changed"))


def test_a_task_in_the_quarantine_of_an_old_version_is_retried(old_run):
    old_run("finished")
    plan = Path("run/plan.yaml")
    plan.write_text(plan.read_text().replace("min_words: 2", "min_words: 1\n    text_column: id"))
    result = retry_quarantined("run", choose=lambda record: record.stage == "text.word_count")
    assert result.is_complete
    (output,) = result.outputs
    assert Path(output.data[0].path).read_text() == '{"id":"2-0","text":5}\n' * 2
    assert {name: data for name, data in files_in("out").items() if name != Path(output.data[0].path).name} == files_in(
        OLD_RUN / "finished/out"
    )


def test_a_ledger_of_a_newer_format_is_refused_with_what_to_do(old_run):
    pipeline = old_run("killed")
    change_header(ledger=header()["ledger"] + 1)
    before = files_in("out") | {"ledger": Path("run/ledger.jsonl").read_bytes()}
    with pytest.raises(LedgerError, match=r"format 2, .*newer version of curator.* reads format 1") as refused:
        pipeline.run(run_dir="run", resume=True)
    assert "pip install --upgrade" in str(refused.value)
    assert "without resume" in str(refused.value)
    with pytest.raises(LedgerError, match="format 2"):
        retry_quarantined("run")
    assert files_in("out") | {"ledger": Path("run/ledger.jsonl").read_bytes()} == before


@pytest.mark.parametrize("first", ['{"version": 1}', '{"ledger": "one"}', '{"ledger": 0}', '{"ledger": true}'])
def test_a_file_that_is_not_a_ledger_is_refused(old_run, first):
    pipeline = old_run("killed")
    Path("run/ledger.jsonl").write_text(first + "\n")
    with pytest.raises(LedgerError, match="is not a ledger"):
        pipeline.run(run_dir="run", resume=True)
