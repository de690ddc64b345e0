"""How much memory this process has had at most since it was last asked to forget.

What ``getrusage`` says is kept when a process starts another program, so that a child begins with its parent's peak,
and what happened before hides what happens now.
"""

from __future__ import annotations

from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def forget_peak() -> None:
    """Let the peak begin anew from what is in use now."""
    _RESET.write_text("5", encoding="ascii")


def peak_mib() -> float:
    """Return the peak."""
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
