"""What runs of before called otherwise: stages, parameters, and parameters that went to another class with their code.

A run made before is resumed only if nothing about it has changed. A name is nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.files.limits import Limits
from curator_core.parameters.former_names import name_today
from curator_core.registry.plugin_info import CORE, official_distribution
from curator_core.registry.refusals import KNOWN_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["as_named_today", "as_one_reader", "is_same_release", "with_parameters_of_today"]

_READING_HALVES = (
    "ReadFiles", "ReadHeld", "ReadHfPieces", "ReadSamples", "ReadTable", "ReadTextPieces", "ReadWarcPieces",
)  # fmt: skip
_LISTINGS = ("ListFiles", "ListTars")
_OF_TABLES = ("format", "columns", "schema", "max_columns")
"""Parameters that all listings had before those of tables became a class of their own."""
_CLASSES = {"CountTokens": "AddTokenCount"}


def as_named_today(stage: Mapping[str, Any], canonical_name: Callable[[str], str]) -> dict[str, Any]:
    """Return the identity of a stage with the names that it would have if its run began today.

    >>> as_named_today({"name": "core.where", "class": "Where"}, lambda name: name.replace("core", "table"))
    {'name': 'table.where', 'class': 'Where'}
    """
    renamed = {**stage, "name": canonical_name(stage["name"])}
    if _is_ours(stage.get("code")) and _class_of(stage) in _CLASSES:
        return {**renamed, "class": _CLASSES[_class_of(stage)]}
    params = stage.get("params", {})
    if _class_of(stage) not in _LISTINGS or "format" not in params or not _is_ours(stage.get("code")):
        return renamed
    if params["format"] is None:
        return {**renamed, "params": {key: value for key, value in params.items() if key not in _OF_TABLES}}
    return {**renamed, "class": "ListTables"}


def as_one_reader(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity of a stage of before in the terms of the reader of today, where it was the half of one.

    Readers were two classes: what the user named, and the stage of the plan. Of that one, the listing stage was a
    parameter, and so were all caps. What the ledger does not have is not compared: the listing has it, too.

    >>> old = {"class": "ReadTable", "code": "curator-table 0.1.0", "params": {"batch_bytes": 9, "format": "csv"}}
    >>> as_one_reader(old, {"class": "ReadCsv", "params": {"block_bytes": 8, "paths": "in"}})["params"]
    {'block_bytes': 9, 'paths': 'in'}
    """
    params = old.get("params", {})
    if _class_of(old) not in _READING_HALVES or not _is_ours(old.get("code")) or "batch_bytes" not in params:
        return dict(old)
    caps = {name: getattr(Limits(), name) for name in Limits.__slots__} | params.get("limits", {})
    own = {"schema": params.get("types"), **params, "block_bytes": params["batch_bytes"]}
    known = {**caps, **(params.get("tar_limits") or {}), **(params.get("files") or {}), **own}
    today = {name: known.get(name, value) for name, value in new.get("params", {}).items()}
    return {**old, "class": new.get("class"), "params": today}


def with_parameters_of_today(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity of a stage of ours with the names that its parameters have in the stage of today.

    >>> old = {"code": "curator-table 0.1.0", "params": {"share": 0.9, "seed": 0}}
    >>> with_parameters_of_today(old, {"params": {"fraction": 0.9, "seed": 0}})["params"]
    {'fraction': 0.9, 'seed': 0}
    """
    params = old.get("params", {})
    if not _is_ours(old.get("code")):
        return dict(old)
    known = new.get("params", {})
    return {**old, "params": {name_today(name, known): value for name, value in params.items()}}


def is_same_release(old: object, new: object) -> bool:
    """Return whether two versions of code are of one release of ours, whose distributions share its number.

    Code moves between them, and is the same code still. A stage whose output changes gets another version of its own.

    >>> is_same_release("curator-core 0.1.0", "curator-table 0.1.0")
    True
    >>> is_same_release("curator-core 0.1.0", "curator-table 0.2.0"), is_same_release("acme 1", "curator-core 1")
    (False, False)
    """
    return _is_ours(old) and _is_ours(new) and _version(old) == _version(new)


def _class_of(stage: Mapping[str, Any]) -> str:
    """Return the name of a class, which had its module before it once."""
    return str(stage.get("class")).rpartition(".")[2]


def _is_ours(code: object) -> bool:
    return str(code).rpartition(" ")[0] in {official_distribution(name) for name in (CORE, *KNOWN_PLUGINS)}


def _version(code: object) -> str:
    return str(code).rpartition(" ")[2]
