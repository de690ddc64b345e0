"""Processes that are stopped for a while and then go on: nothing is lost, doubled or blamed on an innocent task."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.worker_kills import tally

ROOT = Path(__file__).parents[2]
TASKS = 600
STOP_S = 6.0  # longer than any call may last, shorter than it takes Ray to give a node up

pytestmark = pytest.mark.timeout(400)


def signed_in(folder, kind):
    """Return the process ids that the program has left for a kind of process, once some of them are alive."""
    deadline = time.monotonic() + 120
    while not (found := [int(path.name) for path in (folder / kind).glob("*") if is_one(folder, kind, path.name)]):
        assert time.monotonic() < deadline, f"no {kind} has started"
        time.sleep(0.05)
    return found


def is_one(folder, kind, pid):
    """Return whether a process is still the one that signed in: workers end, and are children of the raylet."""
    with suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{pid}/status").read_text()
        return kind != "worker" or any(f"\nPPid:\t{path.name}\n" in status for path in (folder / "raylet").glob("*"))
    return False


def stop_for_a_while(pid):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STOP_S)
    with suppress(ProcessLookupError):  # Ray ends workers that the run has given up
        os.kill(pid, signal.SIGCONT)


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["worker", "raylet", "driver"])
def test_a_process_that_is_stopped_for_a_while_costs_nothing(tmp_path, kind):
    for each in ("worker", "raylet", "driver"):
        (tmp_path / each).mkdir()
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.stopped_program", str(tmp_path), str(TASKS)],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        cwd=ROOT,
    )
    try:
        while not (tmp_path / "under-way").exists():
            assert process.poll() is None, (tmp_path / "log").read_text()[-3000:]
            time.sleep(0.05)
        victims = signed_in(tmp_path, kind)
        stoppers = [threading.Thread(target=stop_for_a_while, args=(pid,)) for pid in victims[:2]]
        for each in stoppers:
            each.start()
        for each in stoppers:
            each.join()
        (tmp_path / "over").touch()
        out, _ = process.communicate(timeout=300)
    finally:
        process.kill()
        log.close()
    assert process.returncode == 0, (tmp_path / "log").read_text()[-3000:]
    found = json.loads(out.splitlines()[-1])
    figures = tally([tuple(each) for each in found["outputs"]], [(number, "ab") for number in range(found["given"])])
    print(f"\n{kind} stopped for {STOP_S:g} s: {found['given']} tasks, {figures}, {found['quarantined']} quarantined")  # noqa: T201 - the figures are what the suite is for
    assert figures == {"lost": 0, "duplicated": 0, "wrong": 0}
    assert found["quarantined"] == []
