"""The command as a process of its own: what only a program that owns its interpreter may do to be quick.

A run of a second would otherwise spend a third of it on collecting garbage that does not exist yet, while modules are
imported, and on taking all of them apart again at the end.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress
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
    _leave(main())


def _leave(status: int) -> NoReturn:
    """End the process without taking modules apart, where nobody is left who could miss it.

    Exit functions run and what was printed is written, as always. With other threads, or under a debugger or a
    profiler, the interpreter ends in its own way.
    """
    is_watched = sys.gettrace() is not None or sys.getprofile() is not None or bool(sys.flags.inspect)
    if is_watched or threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter calls; there is no public name for it
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or its reader went away: nobody to tell
            stream.flush()
    os._exit(status)
