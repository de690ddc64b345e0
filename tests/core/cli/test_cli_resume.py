"""``curator run --resume``, and how a run is stopped so that it can be resumed."""

import os
import re
import shlex
import signal
import threading
import time

import pytest

ROWS = 40
PIPELINE = """
    version: 1
    name: slow
    stages:
      - toy.rows: {count: 40, per_batch: 1}
      - toy.slow: {seconds: "${SECONDS:-0}", marker: "${MARKER}"}
      - toy.write: {path: "${OUT}"}
"""


@pytest.fixture
def run_cli(cli, write_pipeline, tmp_path):
    path = write_pipeline(PIPELINE)
    variables = {"MARKER": tmp_path / "marker", "OUT": tmp_path / "out"}
    given = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
    return lambda *more: cli("run", path, *given, *more)


@pytest.fixture
def signal_at_marker(tmp_path):
    """Send a signal to this process when the pipeline is under way."""
    usual = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    threads = []

    def send(number):
        while not (tmp_path / "marker").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    def start(number):
        threads.append(threading.Thread(target=send, args=(number,)))
        threads[-1].start()

    yield start
    (tmp_path / "marker").touch()
    for thread in threads:
        thread.join()
    for each, handler in usual.items():
        signal.signal(each, handler)


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("number", "status", "hint"), [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "second")]
)
def test_a_signal_stops_gently_and_the_printed_command_goes_on(
    number, status, hint, run_cli, cli, signal_at_marker, tmp_path
):
    signal_at_marker(number)
    stopped = run_cli("--run-dir", tmp_path / "run", "--set", "SECONDS=0.02")
    assert stopped.status == status
    assert hint in stopped.err
    done = len(files_in(tmp_path / "out"))
    assert 0 < done < ROWS
    program, *printed = shlex.split(re.search(r"to resume:\n +(.*)", stopped.err)[1])
    assert program == "curator"
    result = cli(*printed, "--json").json
    assert (result["rows_out"], result["resumed_sources"], result["was_finished"]) == (ROWS, done, False)
    assert len(result["outputs"]) == len(files_in(tmp_path / "out")) == ROWS


def test_a_run_without_a_run_directory_says_that_it_cannot_go_on(run_cli, signal_at_marker):
    signal_at_marker(signal.SIGTERM)
    stopped = run_cli("--set", "SECONDS=0.02")
    assert stopped.status == 143
    assert "only a run with --run-dir can be resumed" in stopped.err


def test_a_finished_run_is_left_alone_and_says_so(run_cli, tmp_path):
    first = run_cli("--run-dir", tmp_path / "run", "--json")
    before = files_in(tmp_path / "out")
    (tmp_path / "marker").unlink()
    again = run_cli("--run-dir", tmp_path / "run", "--resume", "--json")
    assert again.status == 0
    assert f"nothing to do: the run in {tmp_path / 'run'} is finished, 40 source tasks done" in again.err
    assert again.json["was_finished"]
    assert again.json["outputs"] == first.json["outputs"]
    assert not (tmp_path / "marker").exists()
    assert files_in(tmp_path / "out") == before


def test_what_changed_is_listed_and_redone_on_request(run_cli, tmp_path):
    run_cli("--run-dir", tmp_path / "run")
    refused = run_cli("--run-dir", tmp_path / "run", "--resume", "--set", "SECONDS=0.001")
    assert refused.status == 2
    assert "stage 'toy.slow': seconds 0.0 → 0.001" in refused.err
    assert "--resume=changed" in refused.err
    redone = run_cli("--run-dir", tmp_path / "run", "--resume=changed", "--set", "SECONDS=0.001", "--json")
    assert redone.status == 0
    assert redone.json["resumed_sources"] == 0
    assert run_cli("--run-dir", tmp_path / "run", "--resume", "--set", "SECONDS=0.001", "--json").json["was_finished"]


def test_resume_without_a_run_directory_and_unknown_forms_are_usage_errors(cli, write_pipeline):
    path = write_pipeline("version: 1\nstages: [toy.rows]\n")
    outcome = cli("run", path, "--resume")
    assert outcome.status == 2
    assert "--run-dir" in outcome.err
    assert cli("run", path, "--resume=everything").status == 2
