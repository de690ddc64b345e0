"""Import a module in a fresh interpreter and see what it brings along."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from curator_core.testing.check import Violation

__all__ = ["modules_loaded_by"]

_SCRIPT = "import sys, importlib; importlib.import_module(sys.argv[1]); print('\\nLOADED', *sys.modules)"


@functools.cache
def modules_loaded_by(module: str) -> frozenset[str]:
    """Return the names of all modules that are loaded after importing one in a new process.

    Raises:
        Violation: It cannot be imported there.
    """
    done = subprocess.run(  # noqa: S603 - our own interpreter and script; the module is the one under test
        [sys.executable, "-c", _SCRIPT, module],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    if done.returncode:
        last_line = done.stderr.strip().rpartition("\n")[2]
        raise Violation(f"{module} cannot be imported in a fresh interpreter: {last_line}", fix="import what it needs")
    return frozenset(done.stdout.rpartition("LOADED")[2].split())
