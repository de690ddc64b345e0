"""The benchmark of the text models: its command."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "text_models.py"


def test_help_names_every_option():
    command = [sys.executable, str(BENCHMARK), "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert all(option in text for option in ("--quick", "--json", "--documents", "--cpus"))
