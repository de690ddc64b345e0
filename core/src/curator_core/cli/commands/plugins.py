"""``curator plugins``: every plugin, its state and, where it is unusable, the cause and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_shared
from curator_core.cli.terminal import columns_text, print_data, print_json

if TYPE_CHECKING:
    import argparse

    from curator_core.registry import PluginInfo, Registry

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Print the list."""
    from curator_core.registry import default_registry

    registry = default_registry()
    if args.json:
        print_json([_plugin_values(each, registry) for each in registry.plugins])
        return
    rows = [("NAME", "STATUS", "VERSION", "DISTRIBUTION", "STAGES")]
    rows += [
        (each.name, each.status, each.version or "-", each.distribution or "-", str(len(_stages(each, registry))))
        for each in registry.plugins
    ]
    print_data(columns_text(rows))
    for each in registry.plugins:
        remarks = [part for part in (each.cause, each.warning) if part]
        if remarks:
            print_data(f"\n{each.name} ({each.status}): {'; '.join(remarks)}")
            if each.fix:
                print_data(f"  fix: {each.fix}")


def _plugin_values(plugin: PluginInfo, registry: Registry) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "api": None if plugin.api is None else ".".join(str(part) for part in plugin.api),
        "status": plugin.status,
        "cause": plugin.cause,
        "stages": _stages(plugin, registry),
    }


def _stages(plugin: PluginInfo, registry: Registry) -> list[str]:
    return [name for name, registered in registry.stages.items() if registered.plugin is plugin]
