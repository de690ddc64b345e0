"""From an exception to a message on standard error and an exit status."""

from __future__ import annotations

import os
import sys
import traceback

from curator_core.cli import exit_codes
from curator_core.cli.terminal import paint, print_message
from curator_core.values.errors import (
    ConfigError,
    CuratorError,
    PipelineError,
    PluginError,
    ResumeError,
    RunInterrupted,
    UnknownNameError,
)

__all__ = ["TRACEBACK_VARIABLE", "report_failure", "wants_traceback"]

TRACEBACK_VARIABLE = "CURATOR_TRACEBACK"
_USER_CAN_FIX = (ConfigError, PipelineError, PluginError, ResumeError, UnknownNameError)


def wants_traceback(*, flag: bool) -> bool:
    """Return whether the user asked for tracebacks, by flag or in the environment."""
    return flag or os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")


def report_failure(error: BaseException, *, with_traceback: bool) -> int:
    """Tell the user what went wrong and return the exit status for it."""
    if with_traceback:
        print_message("".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip())
    label = paint("error:", "red", stream=sys.stderr)
    if isinstance(error, (KeyboardInterrupt, RunInterrupted)):
        print_message("interrupted")
        return exit_codes.INTERRUPTED
    if isinstance(error, CuratorError):
        print_message(f"{label} {error}")
        return exit_codes.USAGE if isinstance(error, _USER_CAN_FIX) else exit_codes.FAILED
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, OSError):
        print_message(f"{label} {error}")
        return exit_codes.FAILED
    print_message(
        f"{label} unexpected {type(error).__name__}: {text}" if text else f"{label} unexpected {type(error).__name__}"
    )
    if not with_traceback:
        print_message(f"  run again with --traceback (or {TRACEBACK_VARIABLE}=1) to see where it happened")
    return exit_codes.FAILED
