"""Everything a user wants to know about one stage, as plain values."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any

from curator_core.config.docstrings import plain_text, summary_line
from curator_core.config.signature import parameters_of, type_text
from curator_core.errors import CuratorError
from curator_core.specs import StageSpec
from curator_core.stage import ProcessingStage, columns_of

if TYPE_CHECKING:
    from curator_core.config.signature import Parameter
    from curator_core.registry import Registry

__all__ = ["describe_stage"]

_PLACEHOLDERS = {"int": 1, "float": 0.5, "bool": True}


def describe_stage(name: str, registry: Registry) -> dict[str, Any]:
    """Return the page of a stage.

    Raises:
        CuratorError: There is no such stage, or it cannot be imported for another reason than a missing package.
    """
    registered = registry.find(StageSpec, name)
    page: dict[str, Any] = {
        "name": name,
        "plugin": registered.plugin.name,
        "kind": registered.spec.kind,
        "summary": registered.spec.summary,
        "description": registered.spec.summary,
        "available": registered.available,
        "missing": list(registered.missing),
        "install": f"pip install {registered.pip}" if registered.missing else "",
        "requires": list(registered.spec.requires),
        "parameters": [],
        "reads": [],
        "adds": list(registered.spec.produces),
        "resources": "",
        "example": f"- {name}",
    }
    if registered.missing:
        return page  # without its packages the class cannot be looked at
    target = registry.stage_target(name)
    cls = target if isinstance(target, type) else type(target)
    parameters = list(parameters_of(cls).values()) if isinstance(target, type) else []
    page["description"] = _description(target) or registered.spec.summary
    page["parameters"] = [_parameter_values(each) for each in parameters]
    page["resources"] = target.resources.describe()
    page["example"] = _example(name, parameters)
    return page | _columns(target, parameters)


def _columns(target: Any, parameters: list[Parameter]) -> dict[str, Any]:
    """Return the columns of the stage with its defaults, where it can be made without values of the user."""
    try:
        stage = target if isinstance(target, ProcessingStage) else target(**_examples(parameters))
        return {"reads": list(columns_of(stage.inputs())), "adds": list(columns_of(stage.outputs()))}
    except (CuratorError, TypeError, ValueError, AttributeError):  # made-up values do not suit every constructor
        return {}


def _description(target: Any) -> str:
    """Return the docstring up to its first section or example."""
    text = inspect.getdoc(target) or ""
    kept: list[str] = []
    for line in text.splitlines():
        if line.startswith(("Args:", "Attributes:", "Raises:", ">>>")):
            break
        kept.append(line)
    return plain_text("\n".join(kept).strip()) or summary_line(text)


def _parameter_values(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": type_text(parameter.annotation),
        "required": parameter.required,
        "default": None if parameter.required else _plain(parameter.default),
        "description": parameter.description,
    }


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else repr(value)


def _examples(parameters: list[Parameter]) -> dict[str, Any]:
    return {each.name: _example_value(each) for each in parameters if each.required}


def _example_value(parameter: Parameter) -> Any:
    kind = type_text(parameter.annotation)
    if kind.startswith("list"):
        return [f"{parameter.name}"]
    if kind.startswith(("dict", "mapping")):
        return {}
    if kind.startswith("'"):
        return kind.split("'")[1]
    return _PLACEHOLDERS.get(kind, {"paths": "data/*.jsonl", "path": "out"}.get(parameter.name, parameter.name))


def _example(name: str, parameters: list[Parameter]) -> str:
    """Return an entry for a pipeline file: what must be given, made up, or else the thresholds and their defaults."""
    import yaml

    from curator_core.config.yaml_dialect import PlainDumper

    values = _examples(parameters) or {
        each.name: each.default
        for each in parameters
        if isinstance(each.default, (int, float)) and not isinstance(each.default, bool)
    }
    if not values:
        return f"- {name}"
    return yaml.dump([{name: values}], Dumper=PlainDumper, sort_keys=False, allow_unicode=True).rstrip()
