"""Descriptions, parameters and examples of what a pipeline file can name, from its class."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from curator_core.cli.terminal import paint
from curator_core.parameters.docstrings import plain_text, summary_line
from curator_core.parameters.signature import type_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.parameters.signature import Parameter

__all__ = ["description_of", "example_of", "example_values", "parameter_lines", "parameter_values"]

_PLACEHOLDERS = {"int": 1, "float": 0.5, "bool": True}


def description_of(docstring: str | None) -> str:
    """Return a docstring up to its first section or example."""
    text = docstring or ""
    kept: list[str] = []
    for line in text.splitlines():
        if line.startswith(("Args:", "Attributes:", "Raises:", ">>>")):
            break
        kept.append(line)
    return plain_text("\n".join(kept).strip()) or summary_line(text)


def parameter_values(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as plain values."""
    return {
        "name": parameter.name,
        "type": type_text(parameter.annotation),
        "required": parameter.required,
        "default": None if parameter.required else _plain(parameter.default),
        "description": parameter.description,
    }


def parameter_lines(parameters: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield lines of text about parameters."""
    for each in parameters:
        default = "required" if each["required"] else f"default {json.dumps(each['default'])}"
        yield f"  {paint(each['name'], 'cyan')}: {each['type']} ({default})"
        if each["description"]:
            yield f"      {each['description']}"


def example_values(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return made-up values for the parameters that must be given."""
    return {each.name: _example_value(each) for each in parameters if each.required}


def example_of(name: str, parameters: Sequence[Parameter], *, as_entry: bool = False) -> str:
    """Return what stands in a pipeline file: what must be given, made up, or else the thresholds and their defaults.

    Args:
        name: Registry name.
        parameters: Of its constructor.
        as_entry: Whether it is an entry of a list.
    """
    import yaml

    from curator_core.plan.yaml_dialect import PlainDumper

    values = example_values(parameters) or {
        each.name: each.default
        for each in parameters
        if isinstance(each.default, (int, float)) and not isinstance(each.default, bool)
    }
    if not values:
        return f"- {name}" if as_entry else name
    entry: Any = [{name: values}] if as_entry else {name: values}
    return yaml.dump(entry, Dumper=PlainDumper, sort_keys=False, allow_unicode=True).rstrip()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else repr(value)


def _example_value(parameter: Parameter) -> Any:
    kind = type_text(parameter.annotation)
    if kind.startswith("list"):
        return [f"{parameter.name}"]
    if kind.startswith(("dict", "mapping")):
        return {}
    if kind.startswith("'"):
        return kind.split("'")[1]
    return _PLACEHOLDERS.get(kind, {"paths": "data/*.jsonl", "path": "out"}.get(parameter.name, parameter.name))
