"""The benchmark of the scheduler: its command and what it computes from the runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import scheduler

    return scheduler


def test_help_names_every_option():
    command = [sys.executable, str(BENCHMARKS / "scheduler.py"), "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert all(option in text for option in ("--quick", "--json"))


def test_one_object_with_cases_and_ratios_is_printed(benchmark, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "WORKERS", (20, 40))
    monkeypatch.setattr(benchmark, "QUICK_TASKS", {20: 40, 40: 80})
    monkeypatch.setattr(sys, "argv", ["scheduler.py", "--quick", "--json"])
    benchmark.main()
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"cases", "ratios"}
    assert {"c leased", "c held", "c swapped leased", "c swapped held", "20 workers", "40 workers"} == set(
        report["cases"]
    )
    assert report["cases"]["40 workers"]["outputs"] == 80
    assert report["ratios"]["scheduler_us_per_call, 40 workers / 20 workers"] > 0
    assert report["ratios"]["40 workers: of_ideal_with_ramp"] >= 1
    assert report["ratios"]["c held: steady_of_ideal"] > 0.97
