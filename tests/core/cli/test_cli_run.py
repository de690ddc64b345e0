import re
import signal
import subprocess
import sys
import threading
import time

import pyarrow.parquet as pq
import pytest

CONTRACT = {"rows_in", "rows_out", "dropped", "quarantined", "wall_s", "stages", "outputs", "run_dir"}


def test_run_prints_what_was_kept_dropped_and_written(cli, write_pipeline, tmp_path):
    outcome = cli("run", write_pipeline(), "--set", f"OUT={tmp_path / 'out'}")
    assert outcome.status == 0
    assert "too_short: 2 (33.3%)" in outcome.out
    assert "4 of 6 rows kept (66.7%)" in outcome.out
    written = sorted((tmp_path / "out").iterdir())
    assert "3 files written:" in outcome.out
    assert str(written[0]) in outcome.out
    lines = [line for file in written for line in file.read_text().splitlines()]
    assert sorted(lines) == ["GOOD MORNING", "GOOD MORNING", "HELLO", "HELLO"]


def test_run_json_is_one_object_with_the_promised_keys(cli, write_pipeline, tmp_path):
    outcome = cli("run", write_pipeline(), "--set", f"OUT={tmp_path / 'out'}", "--json", "--run-dir", tmp_path / "run")
    assert outcome.json.keys() >= CONTRACT
    assert outcome.json["rows_in"] == 6
    assert outcome.json["rows_out"] == 4
    assert outcome.json["dropped"] == {"too_short": 2}
    assert outcome.json["quarantined"] == 0
    assert len(outcome.json["outputs"]) == 3
    assert outcome.json["run_dir"] == str(tmp_path / "run")
    assert [stage["name"] for stage in outcome.json["stages"]] == [
        "toy.rows",
        "toy.shout",
        "toy.min_chars",
        "toy.write",
    ]
    assert {"plan.yaml", "result.json"} <= {each.name for each in (tmp_path / "run").iterdir()}


def test_limit_threads_and_quiet(cli, write_pipeline, tmp_path):
    path = write_pipeline()
    limited = cli("run", path, "--set", f"OUT={tmp_path / 'a'}", "--limit", 3, "--json")
    assert limited.json["stages"][1]["rows_in"] == 3
    threaded = cli("run", path, "--set", f"OUT={tmp_path / 'b'}", "--threads", 2, "--json")
    assert threaded.json["rows_out"] == 4
    quiet = cli("run", path, "--set", f"OUT={tmp_path / 'c'}", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


def test_save_dropped_keeps_rows_with_reasons(cli, write_pipeline, tmp_path):
    path = write_pipeline()
    refused = cli("run", path, "--set", f"OUT={tmp_path / 'a'}", "--save-dropped")
    assert refused.status == 2
    assert "--run-dir" in refused.err
    assert cli("run", path, "--set", f"OUT={tmp_path}/a", "--save-dropped", "--run-dir", tmp_path / "r").status == 0
    table = pq.read_table(tmp_path / "r" / "dropped")
    assert table.column("text").to_pylist() == ["HI", "HI"]
    assert set(table.column("_reason").to_pylist()) == {"too_short"}


FAILING = """
    version: 1
    stages:
      - toy.rows: {count: 6}
      - toy.fail
"""


def test_quarantined_rows_give_status_3_and_are_named(cli, write_pipeline):
    outcome = cli("run", write_pipeline(FAILING))
    assert outcome.status == 3
    assert "2 in quarantine:" in outcome.out
    assert "toy.fail" in outcome.out
    assert "ValueError: cannot stand 'hi'" in outcome.out
    assert "Traceback" not in outcome.out + outcome.err


def test_on_error_raise_gives_status_1_and_skip_gives_0(cli, write_pipeline):
    path = write_pipeline(FAILING)
    raised = cli("run", path, "--on-error", "raise")
    assert raised.status == 1
    assert raised.out == ""
    assert "cannot stand 'hi'" in raised.err
    assert "Traceback" not in raised.err
    assert cli("run", path, "--on-error", "skip").status == 0


def test_executor_of_the_file_is_used_and_the_command_line_wins(cli, write_pipeline):
    path = write_pipeline(FAILING + "    executor: {name: local, on_error: raise, max_attempts: 1}\n")
    assert cli("run", path).status == 1
    assert cli("run", path, "--on-error", "quarantine").status == 3
    unknown = cli("run", path, "--executor", "locl")
    assert unknown.status == 2
    assert "did you mean 'local'?" in unknown.err


def test_failure_in_setup_is_one_message_and_traceback_only_on_request(cli, write_pipeline, monkeypatch):
    path = write_pipeline("version: 1\nstages: [toy.rows, toy.explode]\n")
    plain = cli("run", path)
    assert plain.status == 1
    assert "toy.explode" in plain.err
    assert "no fuse" in plain.err
    assert "Traceback" not in plain.err
    assert "Traceback" in cli("run", path, "--traceback").err
    monkeypatch.setenv("CURATOR_TRACEBACK", "1")
    assert "Traceback" in cli("run", path).err


def test_unexpected_exception_is_one_line_with_a_hint(cli, write_pipeline, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr("curator_core.run.run.run_plan", broken)
    outcome = cli("run", write_pipeline("version: 1\nstages: [toy.rows]\n"))
    assert outcome.status == 1
    assert outcome.err.splitlines()[1] == "error: unexpected ZeroDivisionError: surprise"
    assert "--traceback" in outcome.err


SLOW = """
    version: 1
    stages:
      - toy.rows: {count: 2000, per_batch: 1}
      - toy.slow: {seconds: SECONDS, marker: MARKER}
"""


def start_slow_run(environment, write_pipeline, tmp_path, seconds):
    marker = tmp_path / "started"
    path = write_pipeline(SLOW.replace("SECONDS", str(seconds)).replace("MARKER", str(marker)))
    command = [sys.executable, "-m", "curator_core", "run", str(path), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    while not marker.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


def test_first_interrupt_finishes_the_tasks_in_hand_and_summarises(environment, write_pipeline, tmp_path):
    process = start_slow_run(environment, write_pipeline, tmp_path, 0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "press Ctrl-C again" in err
    assert '"interrupted": true' in out
    assert 0 < int(re.search(r'"rows_out": (\d+)', out)[1]) < 2000


def test_second_interrupt_stops_at_once(environment, write_pipeline, tmp_path):
    process = start_slow_run(environment, write_pipeline, tmp_path, 600)
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "executor local (CURATOR_EXECUTOR is set)\n"
    # Lines of progress come by the clock, and so at any place among the others on a busy machine.
    said = next(line for line in process.stderr if " s: " not in line)
    assert "press Ctrl-C again" in said
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_reader_that_goes_away_is_no_traceback(environment):
    command = f"{sys.executable} -m curator_core schema | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == '{\n  "$sche'
    assert done.stderr == ""


def test_live_table_and_plain_lines_show_the_stages():
    from io import StringIO

    from curator_core.cli import progress
    from curator_core.run.state import RunState

    class Terminal(StringIO):
        def isatty(self):
            return True

    state = RunState()
    stats = state.stats_of("toy.rows")
    stats.add(rows_in=10, rows_out=1234, process_time_s=0.5)
    state.stats_of("toy.min_chars").dropped["too_short"] += 7
    terminal = Terminal()
    with progress.show_progress(state, quiet=False, stream=terminal):
        pass
    shown = terminal.getvalue()
    assert "toy.rows" in shown
    assert "1,234" in shown
    line = progress.progress_line(state)
    assert "1,234 rows read" in line
    assert "7 dropped" in line
    assert "busiest stage toy.rows" in line


def test_without_a_terminal_a_line_appears_now_and_then(capsys, monkeypatch):
    from curator_core.cli import progress
    from curator_core.run.state import RunState

    monkeypatch.setattr(progress, "LINE_INTERVAL_S", 0.01)
    with progress.show_progress(RunState(), quiet=False):
        time.sleep(0.2)
    assert "rows read" in capsys.readouterr().err
    assert "curator-progress" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("flag", ["--quiet", "-q"])
def test_quiet_starts_no_progress(flag, cli, write_pipeline):
    assert cli("run", write_pipeline("version: 1\nstages: [toy.rows]\n"), flag).out == ""
