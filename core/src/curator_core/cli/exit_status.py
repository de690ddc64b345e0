"""What the exit status of ``curator`` means, and which one, with which message, an exception comes to."""

from __future__ import annotations

import os
import sys
import traceback

from curator_core.cli.terminal import paint, print_message
from curator_core.registry.loading import one_line
from curator_core.values.errors import (
    ConfigError,
    CuratorError,
    PipelineError,
    PluginError,
    ResumeError,
    RunInterrupted,
    UnknownNameError,
)

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "OK",
    "QUARANTINED",
    "TERMINATED",
    "TRACEBACK_VARIABLE",
    "USAGE",
    "report_failure",
]

OK = 0
FAILED = 1
"""The run, or the program, failed."""
USAGE = 2
"""The command line, the pipeline file or a plugin is wrong; nothing was run."""
QUARANTINED = 3
"""The run finished, but some tasks or records are in quarantine."""
INTERRUPTED = 130
"""The user stopped it (128 + the number of the signal, as shells count)."""
TERMINATED = 143
"""SIGTERM stopped it."""

TRACEBACK_VARIABLE = "CURATOR_TRACEBACK"
_USER_CAN_FIX = (ConfigError, PipelineError, PluginError, ResumeError, UnknownNameError)


def report_failure(error: BaseException, *, with_traceback: bool) -> int:
    """Tell the user what went wrong, with the traceback if asked by flag or environment, and return the exit status."""
    with_traceback = with_traceback or os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")
    if with_traceback:
        print_message("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, (KeyboardInterrupt, RunInterrupted)):
        print_message("interrupted")
        return INTERRUPTED
    label = paint("error:", "red", stream=sys.stderr)
    if isinstance(error, (CuratorError, OSError)):
        print_message(f"{label} {error}")
        return USAGE if isinstance(error, _USER_CAN_FIX) else FAILED
    print_message(f"{label} unexpected {one_line(error)}")
    if not with_traceback:
        print_message(f"  run again with --traceback (or {TRACEBACK_VARIABLE}=1) to see where it happened")
    return FAILED
