"""Many trials, one after the other, and what they found together."""

import tempfile
from collections import Counter
from pathlib import Path
from time import process_time

from tests.support.fault_simulation.trial import run_trial

KINDS = (
    "commit of several",
    "driver busy",
    "driver killed",
    "late write refused",
    "link cut",
    "lost object",
    "node death",
    "node joined",
    "setup failure",
    "slow worker",
    "timeout",
    "unsynced ledger lost",
    "worker death",
    "zombie",
)
_MANY = 100
"""So many seeds have faults of every kind."""


class Campaign:
    """Runs trials with consecutive seeds, in a folder each, and sums up.

    Args:
        folder: Where the run directories go.
    """

    def __init__(self, folder):
        self._folder = folder
        self.seeds = 0
        self.faults = Counter()
        self.failures = []
        self.cpu_s = 0.0

    def run(self, seeds):
        started_s = process_time()
        for seed in seeds:
            with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                self._try(seed, Path(folder))
        self.cpu_s += process_time() - started_s

    def _try(self, seed, folder):
        self.seeds += 1
        try:
            outcome = run_trial(seed, folder)
        except Exception as error:
            raise AssertionError(f"seed {seed}: python -m tests.support.fault_simulation {seed} repeats it") from error
        self.faults += outcome.faults
        if not outcome.is_right:
            self.failures.append(outcome)

    def check(self):
        """Print the figures; nothing may be lost, doubled or blamed on the innocent."""
        print(f"\n{self}")  # noqa: T201 - the figures are what it is for
        assert not self.failures, "; ".join(
            f"seed {each.seed}: lost {each.lost}, doubled {each.doubled}, innocent {each.innocent}, {each.wrong}; "
            f"python -m tests.support.fault_simulation {each.seed} repeats it"
            for each in self.failures[:5]
        )
        missing = [kind for kind, count in self.sums().items() if not count]
        assert self.faults
        assert self.seeds < _MANY or not missing, f"{self.seeds:,} seeds without {', '.join(missing)}"

    def sums(self):
        """Return how often each kind of fault occurred."""
        return {kind: sum(count for name, count in self.faults.items() if name.startswith(kind)) for kind in KINDS}

    def __str__(self):
        sums = self.sums()
        others = self.faults.total() - sum(sums.values())
        injected = ", ".join(f"{count} {kind}" for kind, count in [*sums.items(), ("others", others)])
        wrong = [sum(getattr(each, name) for each in self.failures) for name in ("lost", "doubled", "innocent")]
        return (
            f"{self.seeds:,} seeds: {injected}; "
            f"{wrong[0]} lost, {wrong[1]} doubled, {wrong[2]} innocent; {self.cpu_s:.0f} s of processor time"
        )
