"""Repeat one trial: python -m fault_simulation SEED, in tests/chaos."""

import sys
import tempfile
from pathlib import Path

from fault_simulation.trial import run_trial

with tempfile.TemporaryDirectory() as root:
    print(run_trial(int(sys.argv[1]), Path(root)))  # noqa: T201
