"""The command as a process: it ends quickly, and does everything that a process does on its way out."""

from __future__ import annotations

import subprocess
import sys

import pytest

_RUN = (
    "import sys; sys.argv = ['curator', {argument!r}]; from curator_core.cli.process import run_process; run_process()"
)


def _run(before: str, argument: str) -> subprocess.CompletedProcess[str]:
    program = f"{before}\n{_RUN.format(argument=argument)}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(("argument", "status"), [("--version", 0), ("no-such-command", 2)])
def test_the_exit_status_is_kept(argument, status):
    assert _run("", argument).returncode == status


def test_exit_functions_run_and_all_that_was_printed_arrives():
    before = "import atexit\natexit.register(lambda: print('an exit function', end=''))"
    done = _run(before, "--version")
    assert done.stdout.startswith("curator ")
    assert done.stdout.endswith("an exit function")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_interpreter_looks_for_no_cycles_on_its_way_out():
    before = "import atexit, gc\natexit.register(lambda: print('frozen', gc.get_freeze_count() > 1_000))"
    assert "frozen True" in _run(before, "--version").stdout


def test_a_reader_that_goes_away_is_met_without_a_traceback():
    program = f"import time; time.sleep(0.2)\n{_RUN.format(argument='--version')}"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.stderr.read(), process.wait(60)) == (b"", 1)
    process.stderr.close()


def test_threads_that_are_at_work_are_waited_for():
    before = (
        "import threading, time\n"
        "def work():\n    time.sleep(0.3)\n    print('the thread is done')\n"
        "threading.Thread(target=work).start()"
    )
    assert "the thread is done\n" in _run(before, "--version").stdout


def test_output_that_nobody_reads_is_no_failure_of_the_process():
    program = f"import sys; sys.stdout.close(); sys.stdout = None\n{_RUN.format(argument='no-such-command')}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
