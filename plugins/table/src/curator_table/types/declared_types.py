"""Types as users write them: ``schema: {score: float64, tags: list[string], meta: {id: int64}, extra: json}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from curator_core.sdk import ConfigError

__all__ = ["JSON_TYPES", "parse_types"]

JSON_TYPES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "json": pa.json_(pa.string()),
}
"""Types that values of JSON have. A column of the type ``json`` keeps values of any kind, as their JSON text."""


def parse_types(declared: Mapping[str, Any], *, format_name: str) -> dict[str, pa.DataType]:
    """Return the types of columns as Arrow has them.

    >>> parse_types({"tags": "list[string]", "meta": {"id": "int64"}}, format_name="jsonl")
    {'tags': ListType(list<item: string>), 'meta': StructType(struct<id: int64>)}

    Args:
        declared: By column: a name, ``list[…]``, or the fields of an object.
        format_name: The format that is read. Parquet and Arrow files may have any type that Arrow has a name for.

    Raises:
        ConfigError: A type is not known, or the format has no types.
    """
    if declared and format_name == "csv":
        raise ConfigError("schema does not apply to CSV files: their columns are text", fix="leave schema out")
    return {name: _parse(value, name, any_type=format_name != "jsonl") for name, value in declared.items()}


def _parse(declared: Any, where: str, *, any_type: bool, is_inner: bool = False) -> pa.DataType:
    if isinstance(declared, Mapping) and declared:
        fields = [
            (str(name), _parse(value, f"{where}.{name}", any_type=any_type, is_inner=True))
            for name, value in declared.items()
        ]
        return pa.struct(fields)
    text = str(declared)
    if text.startswith("list[") and text.endswith("]"):
        return pa.list_(_parse(text[len("list[") : -1], where, any_type=any_type, is_inner=True))
    if text in JSON_TYPES and not (is_inner and text == "json"):
        return JSON_TYPES[text]
    try:
        if any_type:
            return pa.type_for_alias(text)
    except ValueError:
        pass
    raise ConfigError(
        f"schema: the type of {where!r} is {declared!r}, which is not known{' inside a column' if is_inner else ''}",
        fix=f"use {', '.join(JSON_TYPES)} (of a whole column), list[…], or the fields of an object",
    )
