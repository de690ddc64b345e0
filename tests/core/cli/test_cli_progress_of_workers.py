"""The live table of executors with workers, and the options of ``curator run`` that belong to them."""

import io
import json
import re
import subprocess
import sys

import pytest

from curator_core.cli import progress
from curator_core.cli.progress import Pace, duration_text
from curator_core.run.state import LiveStage, RunState


class Terminal(io.StringIO):
    def isatty(self):
        return True


def running_state():
    state = RunState()
    state.stats_of("toy.read").add(tasks_in=40, rows_out=4000)
    state.stats_of("toy.clean").add(tasks_in=30, rows_in=3000, rows_out=2900)
    state.stats_of("toy.model").add(tasks_in=20, rows_in=1900)
    state.stats_of("toy.clean").dropped["too_short"] += 123
    state.live = {
        "toy.read": LiveStage(
            "toy.read+toy.clean", True, queued=11, running=3, workers=4, busy_fraction=0.75, remaining=14
        ),
        "toy.clean": LiveStage("toy.read+toy.clean", leads_step=False, running=3, workers=4, busy_fraction=0.75),
        "toy.model": LiveStage("toy.model", queued=987, running=8, workers=16, remaining=1009, is_bottleneck=True),
    }
    return state


def shown_on_terminal(state, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    with progress.show_progress(state, quiet=False, stream=terminal):
        pass
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def row_of(shown, stage):
    return next(line.split() for line in shown.splitlines() if line.strip().startswith(stage))


def test_the_table_shows_queues_workers_and_the_bottleneck(monkeypatch):
    shown = shown_on_terminal(running_state(), monkeypatch)
    headings = ["stage", "queued", "running", "done", "dropped", "rows/s", "workers", "busy"]
    assert row_of(shown, "stage") == headings
    assert row_of(shown, "toy.read") == ["toy.read", "11", "3", "40", "0", "4", "75%"]
    assert row_of(shown, "toy.clean") == ["toy.clean", "30", "123", "0", "4", "75%"]  # no queue inside a step
    assert row_of(shown, "toy.model")[:5] == ["toy.model", "(bottleneck)", "987", "8", "20"]
    assert "20 workers, bottleneck toy.model" in shown


def test_the_table_of_executors_without_workers_is_unchanged(monkeypatch):
    state = running_state()
    state.live = {}
    shown = shown_on_terminal(state, monkeypatch)
    assert row_of(shown, "stage") == ["stage", "rows", "in", "rows", "out", "dropped", "rows/s", "time"]


def test_pace_is_that_of_the_last_seconds():
    state, pace = running_state(), Pace()
    stats = state.stats.values()
    for second in range(40):
        pace.note(stats, now=float(second))
        state.stats_of("toy.model").add(tasks_in=1 if second < 20 else 5, rows_in=10 if second < 20 else 50)
    assert pace.tasks_per_s("toy.model") == pytest.approx(5)
    assert pace.rows_per_s("toy.model") == pytest.approx(50)
    assert pace.rows_per_s("toy.clean") == 0
    assert pace.rows_per_s("toy.unknown") == 0


def test_time_left_is_that_of_the_slowest_stage_once_all_input_is_known():
    state, pace = running_state(), Pace()
    stats = state.stats.values()
    assert pace.eta_s(state.live) is None
    pace.note(stats, now=0.0)
    state.stats_of("toy.model").add(tasks_in=50)
    pace.note(stats, now=5.0)
    assert pace.eta_s(state.live) is None  # toy.read has tasks left and does not move
    state.stats_of("toy.read").add(tasks_in=70)
    pace.note(stats, now=10.0)
    assert pace.eta_s(state.live) == pytest.approx(1009 / 5)
    assert progress.progress_line(state, pace).endswith("3 min 22 s left")
    state.live = {**state.live, "toy.read": LiveStage("toy.read+toy.clean", workers=4)}
    assert pace.eta_s(state.live) is None
    assert "left" not in progress.progress_line(state, pace)


def test_durations_are_for_people():
    assert [duration_text(each) for each in (0.4, 59.4, 60, 3599, 3600, 90_061)] == [
        "0 s",
        "59 s",
        "1 min 00 s",
        "59 min 59 s",
        "1 h 00 min",
        "25 h 01 min",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cpus", "3"], "--cpus: the executor 'local' has no such option"),
        (["--address", "auto"], "--address: the executor 'local' has no such option"),
        (["--mode", "batch"], "use --executor streaming"),
        (["--executor", "streaming", "--threads", "2"], "--threads: the executor 'streaming' has no such option"),
        (["--executor", "streaming", "--mode", "sideways"], "invalid choice"),
        (["--gpus", "-1"], "not at least 1"),
    ],
)
def test_options_that_an_executor_lacks_are_refused_with_those_that_have_them(arguments, said, cli, write_pipeline):
    outcome = cli("run", write_pipeline("version: 1\nstages: [toy.rows]\n"), *arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert said in outcome.err


def test_an_address_without_cluster_is_a_clear_error(environment, write_pipeline):
    path = write_pipeline("version: 1\nstages: [toy.rows]\n")
    command = [sys.executable, "-m", "curator_core", "run", str(path), "--executor", "streaming"]
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run(
        [*command, "--address", "127.0.0.1:1"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "there is no Ray cluster at 127.0.0.1:1" in done.stderr


def test_options_reach_the_executor_and_the_run_leaves_its_events(environment, write_pipeline, tmp_path):
    path = write_pipeline("version: 1\nstages:\n  - toy.rows: {count: 6}\n  - toy.shout\n  - toy.min_chars\n")
    command = [sys.executable, "-m", "curator_core", "run", str(path), "--json", "--run-dir", str(tmp_path / "run")]
    command += ["--executor", "streaming", "--cpus", "3", "--gpus", "1", "--mode", "batch"]
    environment.pop("RAY_ADDRESS", None)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows_out"] == 4
    events = [json.loads(line) for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    (node,) = events[0]["nodes"]
    assert (node["cpus"], node["gpus"]) == (3, 1)
    assert [step["name"] for step in events[0]["steps"]] == ["toy.rows", "toy.shout+toy.min_chars"]
    last = {event["stage"]: event for event in events if event["event"] == "stage"}
    assert (last["toy.min_chars"]["rows_in"], last["toy.min_chars"]["rows_dropped"]) == (6, 2)
