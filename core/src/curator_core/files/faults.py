"""Fault points: named moments of a commit at which a test may end the process or let a write fail.

Nothing happens at them unless a hook is installed, with :func:`hooked` in this process or, for processes that are
started, in the environment: ``CURATOR_FAULTS="commit.renamed:kill@3"`` kills the process that comes to that point for
the third time. The action ``fail`` raises what a full disk raises.
"""

from __future__ import annotations

import errno
import os
import signal
from collections import Counter
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Hook = Callable[[str], None]

__all__ = ["FAULTS_VARIABLE", "FAULT_POINTS", "fault_point", "hooked", "is_hooked"]

FAULTS_VARIABLE = "CURATOR_FAULTS"
FAULT_POINTS = (
    "commit.begin",
    "commit.half_written",
    "commit.written",
    "commit.synced",
    "commit.renamed",
    "commit.folder_synced",
    "ledger.begin",
    "ledger.half_written",
    "ledger.written",
    "ledger.synced",
)
"""The steps of a commit in their order: an output file appears, then the ledger says that its source is done."""

_ACTIONS = ("kill", "fail")


_hook: Hook | None = None


def fault_point(name: str) -> None:
    """Come to a point. Costs next to nothing unless a hook is installed."""
    hook = _hook or _hook_of_environment()
    if hook is not None:
        hook(name)


def is_hooked() -> bool:
    """Return whether a hook is installed, for code that must do something more to make a point meaningful."""
    return (_hook or _hook_of_environment()) is not None


@contextmanager
def hooked(hook: Hook) -> Iterator[None]:
    """Call a function at every fault point of this process; what it raises is raised there."""
    global _hook  # noqa: PLW0603 - one hook for the process, or the points would not be free
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before


def parse_faults(text: str) -> Hook | None:
    """Return the hook that a value of the environment variable asks for.

    >>> parse_faults("") is None
    True
    """
    wanted = [_parse_one(each.strip()) for each in text.split(",") if each.strip()]
    if not wanted:
        return None
    visits: Counter[str] = Counter()

    def hook(name: str) -> None:
        visits[name] += 1
        for point, action, visit in wanted:
            if point == name and visit == visits[name]:
                _act(action, name)

    return hook


def _parse_one(text: str) -> tuple[str, str, int]:
    point, _, rest = text.partition(":")
    action, _, visit = rest.partition("@")
    if point not in FAULT_POINTS or action not in _ACTIONS or not (visit or "1").isdigit():
        raise ConfigError(
            f"{FAULTS_VARIABLE}: {text!r} does not name a fault",
            fix=f"write POINT:ACTION@VISIT with one of {', '.join(FAULT_POINTS)} and one of {', '.join(_ACTIONS)}",
        )
    return point, action, int(visit or "1")


def _act(action: str, name: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise OSError(errno.ENOSPC, f"No space left on device (injected at {name})")


@cache
def _hook_of_environment() -> Hook | None:
    return parse_faults(os.environ.get(FAULTS_VARIABLE, ""))
