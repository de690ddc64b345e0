"""``curator quarantine``: what a run set aside, and how it comes back."""

import json

import pytest

PIPELINE = """
version: 1
stages:
  - toy.rows: {count: 6}
  - toy.fail: {word: "${WORD:-hello}"}
  - toy.shout
  - toy.write: {path: "${OUT}"}
executor: {name: local, max_attempts: 1}
"""


@pytest.fixture
def run_dir(cli, write_pipeline, tmp_path):
    """A run of six rows in which two failed."""
    path = write_pipeline(PIPELINE)
    assert cli("run", path, "--set", f"OUT={tmp_path}/out", "--run-dir", tmp_path / "run", "-q").status == 3
    return tmp_path / "run"


def mend(run_dir, word="nothing"):
    """Change the pipeline of the run directory, as a user would who found out what was wrong."""
    plan = run_dir / "plan.yaml"
    assert "word: hello" in plan.read_text()
    plan.write_text(plan.read_text().replace("word: hello", f"word: {word}"))


def output(tmp_path):
    return sorted(line for path in (tmp_path / "out").iterdir() for line in path.read_text().splitlines())


def ids(cli, run_dir, *arguments):
    return [record["record_id"] for record in cli("quarantine", "ls", run_dir, "--json", *arguments).json["records"]]


def test_ls_lists_records_and_counts_them(cli, run_dir):
    listed = cli("quarantine", "ls", run_dir)
    header, first, second, blank, counts = listed.out.splitlines()
    assert header.split() == ["ID", "STAGE", "WHERE", "ERROR", "ATTEMPTS"]
    assert first.split()[1:2] + first.split()[-1:] == ["toy.fail", "2"]
    assert "ValueError: cannot stand 'hello'" in second
    assert (blank, counts.split()) == ("", ["2", "toy.fail", "ValueError"])
    values = cli("quarantine", "ls", run_dir, "--json").json
    assert values["counts"] == [{"stage": "toy.fail", "error_type": "ValueError", "records": 2, "rows": 2}]
    assert [record["payload"] for record in values["records"]] == [
        "{'id': 0, 'text': 'hello'}",
        "{'id': 3, 'text': 'hello'}",
    ]


def test_ls_filters_by_stage_and_error(cli, run_dir):
    assert len(ids(cli, run_dir, "--stage", "toy.fail", "--error", "ValueError")) == 2
    assert ids(cli, run_dir, "--stage", "toy.shout") == ids(cli, run_dir, "--error", "KeyError") == []
    assert cli("quarantine", "ls", run_dir, "--stage", "toy.shout").out == "nothing in quarantine\n"


def test_show_tells_everything(cli, run_dir):
    first, _ = ids(cli, run_dir)
    shown = cli("quarantine", "show", run_dir, first[:8]).out
    for part in ("toy.fail", "ValueError", "attempts", "worker", "row_id", "{'id': 0", "Traceback", "cannot stand"):
        assert part in shown
    assert cli("quarantine", "show", run_dir, first, "--json").json["record_id"] == first


def test_retry_brings_rows_back_once(cli, run_dir, tmp_path):
    assert cli("quarantine", "retry", run_dir).status == 3, "nothing was mended"
    assert [cli("quarantine", "show", run_dir, each, "--json").json["attempts"] for each in ids(cli, run_dir)] == [5, 5]
    mend(run_dir)
    first, second = ids(cli, run_dir)
    done = cli("quarantine", "retry", run_dir, first)
    assert (done.status, done.out.splitlines()[0]) == (0, "1 resolved, 0 in quarantine again")
    assert ids(cli, run_dir) == [second]
    assert ids(cli, run_dir, "--all") == [first, second]
    assert cli("quarantine", "retry", run_dir, "--json").json["resolved"] == [second]
    assert output(tmp_path) == sorted(["HELLO", "HI", "GOOD MORNING"] * 2)
    again = cli("quarantine", "retry", run_dir)
    assert (again.status, again.out) == (0, "nothing to retry\n")
    assert output(tmp_path) == sorted(["HELLO", "HI", "GOOD MORNING"] * 2)
    assert cli("quarantine", "ls", run_dir).out == "nothing in quarantine (2 resolved)\n"
    assert "(resolved)" in cli("quarantine", "ls", run_dir, "--all").out


def test_an_unfinished_run_is_to_be_resumed_first(cli, run_dir, tmp_path):
    ledger, before = run_dir / "ledger.jsonl", output(tmp_path)
    lines = ledger.read_text().splitlines(keepends=True)
    assert "finished" in lines[-1]
    ledger.write_text("".join(lines[:-1]))  # as if it had been killed just before its end
    mend(run_dir)
    refused = cli("quarantine", "retry", run_dir)
    assert (refused.status, refused.out) == (1, "")
    assert "is not finished" in refused.err
    assert "--resume" in refused.err
    assert output(tmp_path) == before


def test_a_dry_run_says_what_would_be_done(cli, run_dir, tmp_path):
    before = output(tmp_path)
    mend(run_dir)
    done = cli("quarantine", "retry", run_dir, "--dry-run")
    assert [line.split()[-1] for line in done.out.splitlines()] == ["FROM", "toy.fail", "toy.fail"]
    assert output(tmp_path) == before
    assert len(cli("quarantine", "retry", run_dir, "--dry-run", "--json").json["from_stage"]["toy.fail"]) == 2


def test_retry_with_another_pipeline_file(cli, run_dir, write_pipeline, tmp_path):
    path = write_pipeline(PIPELINE, "fixed.yaml")
    done = cli(
        "quarantine", "retry", run_dir, "--pipeline", path, "--set", "WORD=nothing", "--set", f"OUT={tmp_path}/out"
    )
    assert done.status == 0
    assert len(output(tmp_path)) == 6


def test_payloads_can_be_left_out_and_rows_still_come_back(cli, write_pipeline, tmp_path):
    path, run_dir = write_pipeline(PIPELINE), tmp_path / "run"
    cli("run", path, "--set", f"OUT={tmp_path}/out", "--run-dir", run_dir, "-q", "--no-quarantine-payload")
    assert [path.name for path in (run_dir / "quarantine").iterdir()] == ["records.jsonl"]
    assert "'id'" not in (run_dir / "quarantine" / "records.jsonl").read_text()
    mend(run_dir)
    assert "its source" in cli("quarantine", "retry", run_dir, "--dry-run").out
    assert cli("quarantine", "retry", run_dir).status == 0
    assert output(tmp_path) == sorted(["HELLO", "HI", "GOOD MORNING"] * 2)


def test_a_run_with_too_many_failures_ends_with_its_reasons(cli, write_pipeline, tmp_path):
    path = write_pipeline(PIPELINE.replace("count: 6", "count: 6000"))
    done = cli("run", path, "--set", f"OUT={tmp_path}/out", "--max-failed-fraction", "0.1", "-q")
    assert done.status == 1
    assert "stage 'toy.fail' failed on " in done.err
    assert "more than max_failed_fraction allows (10.0%): ValueError" in done.err
    assert len(output(tmp_path)) < 600


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ls", "nowhere"], "is not a run directory"),
        (["show", "RUN", "ffffff"], "unknown record 'ffffff'"),
        (["show", "RUN", ""], "is the beginning of several records"),
        (["retry", "RUN", "--executor", "locl"], "did you mean 'local'"),
        (["retry", "RUN", "--pipeline", "nowhere.yaml"], "cannot read pipeline file"),
    ],
)
def test_wrong_usage_is_told(cli, run_dir, arguments, message):
    done = cli("quarantine", *(str(run_dir) if each == "RUN" else each for each in arguments))
    assert done.status == 2
    assert message in done.err


def test_a_pipeline_that_is_not_known_is_asked_for(cli, run_dir):
    plan = run_dir / "plan.yaml"
    plan.write_text(plan.read_text().replace("word: hello", "word: '***'"))
    assert "secrets were left out" in cli("quarantine", "retry", run_dir).err
    plan.unlink()
    done = cli("quarantine", "retry", run_dir, "--traceback")
    assert (done.status, "has no plan.yaml" in done.err) == (2, True)
    assert "Traceback" in done.err


def test_records_are_lines_of_json(run_dir):
    for line in (run_dir / "quarantine" / "records.jsonl").read_text().splitlines():
        assert json.loads(line)["stage"] == "toy.fail"
