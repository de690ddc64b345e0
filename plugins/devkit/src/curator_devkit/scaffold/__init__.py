"""Write the skeleton of a new plugin, whose tests pass at once."""

from __future__ import annotations

from curator_devkit.scaffold.new_plugin import new_plugin

__all__ = ["new_plugin"]
