"""Everything a user wants to know about one stage or workflow, as plain values and as text."""

from __future__ import annotations

import dataclasses
import inspect
import json
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.cli.terminal import paint, print_data
from curator_core.parameters.signature import parameters_of, plain_text, summary_line, type_text
from curator_core.values.errors import CuratorError
from curator_core.values.specs import StageSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.parameters.signature import Parameter
    from curator_core.registry import Registered, Registry
    from curator_core.values.specs import WorkflowSpec

__all__ = ["example_of", "print_parameters", "stage_page", "workflow_page"]

_PLACEHOLDERS = {"int": 1, "float": 0.5, "bool": True}
_SECTIONS = ("Args:", "Attributes:", "Raises:", ">>>")


def stage_page(name: str, registry: Registry) -> dict[str, Any]:
    """Return the page of a stage.

    Raises:
        CuratorError: There is no such stage, or it cannot be imported for another reason than a missing package.
    """
    registered = registry.find(StageSpec, name)
    name = registered.full_name
    page: dict[str, Any] = {
        "name": name,
        "aliases": [alias for alias, of in registry.aliases.items() if of == name],
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
    parameters = list(parameters_of(target).values()) if isinstance(target, type) else []
    page["description"] = _description(target) or registered.spec.summary
    page["parameters"] = [_parameter_values(each) for each in parameters]
    page["resources"] = target.resources.describe()
    page["example"] = "- " + example_of(name, parameters).replace("\n", "\n  ")
    with suppress(CuratorError, TypeError, ValueError, AttributeError):  # made-up values do not suit every constructor
        stage = target if isinstance(target, ProcessingStage) else target(**_example_values(parameters))
        page |= {"reads": list(columns_of(stage.inputs())), "adds": list(columns_of(stage.outputs()))}
    return page


def workflow_page(name: str, registered: Registered[WorkflowSpec]) -> dict[str, Any]:
    """Return the page of a workflow, under the name that the user gave."""
    cls: Any = registered.load()
    parameters = [_parameter_values(each) for each in parameters_of(cls).values()]
    return {"name": name, "description": _description(cls), "parameters": parameters}


def print_parameters(parameters: Sequence[dict[str, Any]]) -> None:
    """Print the parameters of a page."""
    print_data("\nparameters")
    for each in parameters:
        default = "required" if each["required"] else f"default {json.dumps(each['default'])}"
        print_data(f"  {paint(each['name'], 'cyan')}: {each['type']} ({default})")
        if each["description"]:
            print_data(f"      {each['description']}")


def example_of(name: str, parameters: Sequence[Parameter]) -> str:
    """Return what stands in a pipeline file: what must be given, made up, or else the thresholds and their defaults."""
    import yaml

    from curator_core.plan.yaml_dialect import PlainDumper

    values = _example_values(parameters) or {
        each.name: each.default
        for each in parameters
        if isinstance(each.default, (int, float)) and not isinstance(each.default, bool)
    }
    if not values:
        return name
    return yaml.dump({name: values}, Dumper=PlainDumper, sort_keys=False, allow_unicode=True).rstrip()


def _description(thing: Any) -> str:
    """Return a docstring up to its first section or example."""
    text = inspect.getdoc(thing) or ""
    kept = takewhile(lambda line: not line.startswith(_SECTIONS), text.splitlines())
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


def _example_values(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return made-up values for the parameters that must be given."""
    return {each.name: _example_value(each) for each in parameters if each.required}


def _example_value(parameter: Parameter) -> Any:
    kind = type_text(parameter.annotation)
    if kind.startswith("list"):
        return [parameter.name]
    if kind.startswith(("dict", "mapping")):
        return {}
    if kind.startswith("'"):
        return kind.split("'")[1]
    return _PLACEHOLDERS.get(kind, {"paths": "data/*.jsonl", "path": "out"}.get(parameter.name, parameter.name))
