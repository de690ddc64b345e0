"""Repeat one trial: python -m tests.support.fault_simulation SEED. Ends with 1 where the outcome is wrong."""

import sys
import tempfile
from pathlib import Path

from tests.support.fault_simulation.trial import run_trial

with tempfile.TemporaryDirectory() as root:
    outcome = run_trial(int(sys.argv[1]), Path(root))
print(outcome)  # noqa: T201
sys.exit(0 if outcome.is_right else 1)
