"""``python -m curator_core`` is the command ``curator``."""

from __future__ import annotations

from curator_core.cli.process import run_process

if __name__ == "__main__":
    run_process()
