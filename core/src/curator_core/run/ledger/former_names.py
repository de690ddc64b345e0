"""What runs of before called otherwise: stages, and parameters that went to another class when code moved.

A run made before is resumed only if nothing about it has changed. A name is nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.registry.plugin_info import CORE, official_distribution
from curator_core.registry.refusals import KNOWN_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["as_named_today", "is_same_release"]

_LISTINGS = ("ListFiles", "ListTars")
_OF_TABLES = ("format", "columns", "schema", "max_columns")
"""Parameters that all listings had before those of tables became a class of their own."""


def as_named_today(stage: Mapping[str, Any], canonical_name: Callable[[str], str]) -> dict[str, Any]:
    """Return the identity of a stage with the names that it would have if its run began today.

    >>> as_named_today({"name": "core.where", "class": "Where"}, lambda name: name.replace("core", "table"))
    {'name': 'table.where', 'class': 'Where'}
    """
    renamed = {**stage, "name": canonical_name(stage["name"])}
    params = stage.get("params", {})
    cls = str(stage.get("class")).rpartition(".")[2]
    if cls not in _LISTINGS or "format" not in params or not _is_ours(stage.get("code")):
        return renamed
    if params["format"] is None:
        return {**renamed, "params": {key: value for key, value in params.items() if key not in _OF_TABLES}}
    return {**renamed, "class": "ListTables"}


def is_same_release(old: object, new: object) -> bool:
    """Return whether two versions of code are of one release of ours, whose distributions share its number.

    Code moves between them, and is the same code still. A stage whose output changes gets another version of its own.

    >>> is_same_release("curator-core 0.1.0", "curator-table 0.1.0")
    True
    >>> is_same_release("curator-core 0.1.0", "curator-table 0.2.0"), is_same_release("acme 1", "curator-core 1")
    (False, False)
    """
    return _is_ours(old) and _is_ours(new) and _version(old) == _version(new)


def _is_ours(code: object) -> bool:
    return str(code).rpartition(" ")[0] in {official_distribution(name) for name in (CORE, *KNOWN_PLUGINS)}


def _version(code: object) -> str:
    return str(code).rpartition(" ")[2]
