"""Whole runs with their faults in virtual time, from one seed: a failing seed fails again.

The scheduler, its recovery, the run loop, the workers' code, the stage runner, the ledger and the resuming of a run are
the real ones. Replaced are Ray (processes, objects and nodes), threads and clocks.
"""

from tests.support.fault_simulation.campaign import Campaign
from tests.support.fault_simulation.trial import Outcome, run_trial

__all__ = ["Campaign", "Outcome", "run_trial"]
