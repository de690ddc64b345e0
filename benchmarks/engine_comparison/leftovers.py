"""Stop processes that outlive an engine: actors with threads of their own may not end with their Ray, and stay busy."""

from __future__ import annotations

import os
import signal
import uuid
from contextlib import suppress
from pathlib import Path

MARK = "CURATOR_BENCHMARK_RUN"
"""Variable by which the processes of one run of an engine are known; children inherit it."""


def new_mark() -> dict[str, str]:
    """Return the environment variable of a run that is about to start."""
    return {MARK: uuid.uuid4().hex}


def stop_leftovers(mark: str) -> None:
    """Kill every process of this user that bears a mark, except the one that asks. Does nothing without ``/proc``."""
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is someone else's
            if wanted in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
