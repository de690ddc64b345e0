"""Everything a user wants to know about one stage, as plain values."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.cli.parameter_text import description_of, example_of, example_values, parameter_values
from curator_core.parameters.signature import parameters_of
from curator_core.values.errors import CuratorError
from curator_core.values.specs import StageSpec

if TYPE_CHECKING:
    from curator_core.parameters.signature import Parameter
    from curator_core.registry import Registry

__all__ = ["describe_stage"]


def describe_stage(name: str, registry: Registry) -> dict[str, Any]:
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
    cls = target if isinstance(target, type) else type(target)
    parameters = list(parameters_of(cls).values()) if isinstance(target, type) else []
    page["description"] = description_of(inspect.getdoc(target)) or registered.spec.summary
    page["parameters"] = [parameter_values(each) for each in parameters]
    page["resources"] = target.resources.describe()
    page["example"] = example_of(name, parameters, as_entry=True)
    return page | _columns(target, parameters)


def _columns(target: Any, parameters: list[Parameter]) -> dict[str, Any]:
    """Return the columns of the stage with its defaults, where it can be made without values of the user."""
    try:
        stage = target if isinstance(target, ProcessingStage) else target(**example_values(parameters))
        return {"reads": list(columns_of(stage.inputs())), "adds": list(columns_of(stage.outputs()))}
    except (CuratorError, TypeError, ValueError, AttributeError):  # made-up values do not suit every constructor
        return {}
