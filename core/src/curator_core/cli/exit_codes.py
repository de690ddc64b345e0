"""What the exit status of ``curator`` means."""

from __future__ import annotations

__all__ = ["FAILED", "INTERRUPTED", "OK", "QUARANTINED", "TERMINATED", "USAGE"]

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
