"""Run core's and text's tests on the oldest and the newest supported Python found (``make test-versions``)."""

from __future__ import annotations

import sys

from interpreters import installed, outermost
from trial_environment import Trial, report


def main() -> int:
    """Return 0 if the tests pass on both, or if there is no other Python to test on."""
    chosen = outermost(installed(), tested=(sys.version_info.major, sys.version_info.minor))
    if not chosen:
        print("skipped: no other interpreter found (looked for Python 3.10 to 3.14 on the path and in pyenv)")
        return 0
    trials = [Trial(f"{major}.{minor}", python) for (major, minor), python in chosen.items()]
    return report(trials, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
