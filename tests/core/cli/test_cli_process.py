"""The command as a process: it ends at once, and still does everything that a process does on its way out."""

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


def test_modules_are_not_taken_apart():
    before = (
        "import types\nclass Loud(types.ModuleType):\n    def __del__(self): print('taken apart')\nloud = Loud('loud')"
    )
    assert "taken apart" not in _run(before, "--version").stdout


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
