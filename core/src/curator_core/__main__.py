"""``python -m curator_core`` is the command ``curator``."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder on the path for -m (unless told -P); the command does not import from there.
    is_added = not getattr(sys.flags, "safe_path", False)
    if is_added and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - strings are compared
        del sys.path[0]
    from curator_core.cli.process import run_process

    run_process()
