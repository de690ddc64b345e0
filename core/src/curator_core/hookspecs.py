"""The marker of hooks that a plugin implements; :mod:`curator_core.values.hookspecs` describes each hook."""

from __future__ import annotations

from curator_core.values.hookspecs import PROJECT, hookimpl, hookspec

__all__ = ["PROJECT", "hookimpl", "hookspec"]
