"""The command as a process of its own: what only a program that owns its interpreter may do to be quick.

A run of a second would otherwise spend a quarter of it on collecting garbage that does not exist: while modules are
imported, and once more when the interpreter ends.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from curator_core.cli.app import main

__all__ = ["run_process"]

_NEW_OBJECTS = 50_000
"""Objects between two looks for cycles. Imports alone make several hundred thousand, which all stay; a batch of rows
is a handful of objects, so that the usual 700 would not find garbage sooner than this does."""


def run_process() -> NoReturn:
    """Run ``curator`` with the arguments of this process, and end it."""
    gc.set_threshold(_NEW_OBJECTS)
    # numpy's linear algebra keeps its threads spinning for a while after they are started.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    status = main()
    gc.freeze()  # the interpreter need not look for cycles among what goes with the process
    sys.exit(status)
