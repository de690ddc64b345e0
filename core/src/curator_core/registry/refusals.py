"""Say why a name cannot be used: unknown, or of a plugin that is missing, blocked, shadowed or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.registry.plugin_info import official_distribution
from curator_core.values.errors import PluginError, UnknownNameError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from curator_core.registry.plugin_info import PluginInfo
    from curator_core.values.errors import CuratorError

__all__ = ["KNOWN_COMMANDS", "KNOWN_PLUGINS", "plugin_refusal", "refusal"]

KNOWN_PLUGINS = ("audio", "dedup", "devkit", "image", "table", "text", "video")
"""Plugins that exist; a pipeline that names one which is not installed is told how to install it."""

KNOWN_COMMANDS = {"plugin": "devkit"}
"""Commands that these plugins add to ``curator``, and by which plugin."""

_MAX_NAMES_SHOWN = 8


def refusal(
    noun: str, name: str, *, known: Collection[str], plugins: Sequence[PluginInfo], asked: str | None = None
) -> CuratorError:
    """Return the error for a name that no working plugin offers.

    Args:
        noun: What kind of thing the name is for.
        name: The name.
        known: Full names that working plugins offer.
        plugins: All plugins, working or not.
        asked: The alias that was given for it, if one was.
    """
    shown = f"{noun} {name!r}" if asked in (None, name) else f"{noun} {asked!r} is called {name!r} now, and"
    plugin = name.rpartition(".")[0]
    if any(each.is_ok for each in plugins if each.name == plugin):
        of_plugin = [each for each in known if each.startswith(f"{plugin}.")]
        return UnknownNameError(noun, name, known, fix=f"{plugin} offers: {_few(of_plugin)}")
    if error := plugin_refusal(shown, plugin, plugins):
        return error
    if plugin and not nearest(name, known):
        fix = f"install the distribution that provides the plugin {plugin!r}"
        return UnknownNameError(noun, name, known, fix=fix)
    return UnknownNameError(noun, name, known, fix=f"known: {_few(known)}")


def plugin_refusal(what: str, plugin: str, plugins: Sequence[PluginInfo]) -> PluginError | None:
    """Return the error for ``what`` of a plugin that is unusable or not installed; None if it works or is unknown."""
    claimants = [each for each in plugins if each.name == plugin]
    if any(each.is_ok for each in claimants):
        return None
    if claimants:
        # Where several claim the name, the one that was not merely shadowed says most.
        info = min(claimants, key=lambda each: each.status == "shadowed")
        error = PluginError(f"{what} needs the plugin {plugin!r}, which is {info.status}: {info.cause}", fix=info.fix)
        error.__cause__ = info.exception
        return error
    if plugin in KNOWN_PLUGINS:
        fix = f"pip install {official_distribution(plugin)}"
        return PluginError(f"{what} needs the plugin {plugin!r}, which is not installed", fix=fix)
    return None


def _few(names: Collection[str]) -> str:
    if not names:
        return "none"
    rest = len(names) - _MAX_NAMES_SHOWN
    return ", ".join(sorted(names)[:_MAX_NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
