"""Other names of stages: of those that were core's before they moved, and of those that plugins declare.

An alias is good wherever a stage is named. Plans, ledgers and quarantines hold the canonical name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.values.specs import StageSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curator_core.registry.plugin_info import PluginInfo

__all__ = ["ONCE_IN_CORE", "aliases_of", "canonical_name"]

ONCE_IN_CORE = {
    "core.sample": "table.sample",
    "core.select_columns": "table.select",
    "core.where": "table.where",
}
"""Stages that core had; they are known by these names whether or not the plugin that has them now is installed."""


def aliases_of(plugins: Iterable[PluginInfo]) -> dict[str, str]:
    """Return the canonical name of every alias, by full name."""
    declared = {
        f"{plugin.name}.{spec.name}": spec.alias_of
        for plugin in plugins
        for spec in plugin.specs.get(StageSpec, ())
        if spec.alias_of is not None
    }
    return dict(sorted({**ONCE_IN_CORE, **declared}.items()))


def canonical_name(name: str, aliases: Mapping[str, str]) -> str:
    """Return the canonical name of a stage, or of a part of one.

    >>> canonical_name("core.where", ONCE_IN_CORE), canonical_name("text.word_count", ONCE_IN_CORE)
    ('table.where', 'text.word_count')
    >>> canonical_name("text.read_jsonl.files", {"text.read_jsonl": "table.read_jsonl"})
    'table.read_jsonl.files'
    """
    stage = ".".join(name.split(".", 2)[:2])
    return aliases.get(stage, stage) + name[len(stage) :]
