"""Declare the command of this plugin; it has no stages."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import CommandSpec

__all__ = ["CURATOR_API", "curator_commands"]

CURATOR_API = (1, 0)


@hookimpl
def curator_commands() -> list[CommandSpec]:
    """Offer ``curator plugin``."""
    return [
        CommandSpec("plugin", target="curator_devkit.command", summary="Start a plugin of your own, or check one."),
    ]
