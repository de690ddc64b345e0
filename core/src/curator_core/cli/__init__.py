"""The command ``curator``. Sub-commands are imported when they are chosen."""

from __future__ import annotations

from curator_core.cli.app import main

__all__ = ["main"]
