"""The benchmark of the driver's memory: its command, and a small run of the cases without Ray."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "driver_memory.py"


def test_the_cost_of_a_task_is_printed_for_each_case():
    cases = "stream local,ledger local,resume local"
    command = [sys.executable, str(BENCHMARK), "--tasks", "2000", "--case", cases, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250)
    report = json.loads(done.stdout)
    assert list(report) == cases.split(",")
    assert all(each["tasks"] == 2_000 and each["peak_mb"] > 0 for each in report.values())
    assert all("bytes_per_task" in each for each in report.values())


def test_an_unknown_case_is_named():
    command = [sys.executable, str(BENCHMARK), "--case", "batch local"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "unknown case 'batch local'; there are: stream local" in done.stderr
