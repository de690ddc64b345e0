"""Import a module in a fresh interpreter and list the modules that it loads."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from typing import Any

from curator_devkit.testing.check import Violation

__all__ = ["import_each", "modules_loaded_by"]

# Most stages need the shared packages, and to import them takes most of the time: modules are imported in forks of a
# process that has done so.
_SCRIPT = """
import importlib, json, os, sys

for shared in ("numpy", "pyarrow", "polars") if len(sys.argv) > 2 else ():
    try:
        importlib.import_module(shared)
    except ImportError:
        pass
for module in sys.argv[1:]:
    if hasattr(os, "fork") and os.fork():
        os.wait()
        continue
    try:
        importlib.import_module(module)
        found = {"loaded": sorted(sys.modules)}
    except BaseException as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    print("\\nFOUND", json.dumps([module, found]), flush=True)
    os._exit(0)
"""


def modules_loaded_by(module: str, siblings: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the names of all modules that are loaded after importing one in a new process.

    Args:
        module: The module.
        siblings: Others that will be asked about. All together take little more time than one; numpy, pyarrow and
            polars are counted as loaded then.

    Raises:
        Violation: It cannot be imported there.
    """
    together = tuple(sorted({module, *siblings})) if hasattr(os, "fork") else (module,)
    found = import_each(together).get(module, {"error": "the process died"})
    if "error" in found:
        raise Violation(
            f"{module} cannot be imported in a fresh interpreter: {found['error']}", fix="import what it needs"
        )
    return frozenset(found["loaded"])


@functools.cache
def import_each(modules: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return for each module the modules ``loaded`` after importing it alone, or the ``error`` it raised."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and script; the modules are those under test
        [sys.executable, "-c", _SCRIPT, *modules],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    lines = [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    return dict(map(json.loads, lines))
