"""A JSON schema of pipeline files over all installed stages, so that editors complete and check them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.authoring.filter import Filter
from curator_core.authoring.stage import ProcessingStage
from curator_core.config.executors import short_names
from curator_core.config.loader import FILE_VERSION
from curator_core.parameters.params import option_type
from curator_core.parameters.signature import REQUIRED, accepts_any_parameter, parameters_of, summary_line
from curator_core.parameters.validation import adapter_for
from curator_core.values.errors import CuratorError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.parameters.signature import Parameter
    from curator_core.registry import Registry

__all__ = ["DIALECT", "pipeline_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE = {"$ref": "#/$defs/variable"}
_PLAIN_JSON = (str, int, float, bool, list, dict, type(None))


def pipeline_schema(registry: Registry | None = None) -> dict[str, Any]:
    """Return the schema of a pipeline file.

    A stage that cannot be imported is left out, with its reason in ``$comment``.
    """
    from curator_core.registry import default_registry

    registry = registry or default_registry()
    stages: dict[str, Any] = {}
    bare: list[str] = []
    left_out: list[str] = []
    options = _options(ProcessingStage) | _options(Filter)
    for name, registered in registry.stages.items():
        try:
            target = registry.stage_target(name)
        except CuratorError as error:
            left_out.append(f"{name}: {error.message}")
            continue
        cls = target if isinstance(target, type) else type(target)
        options |= _options(cls)
        # One that is made of a function has no parameters.
        stages[name] = _parameters_schema(cls) if isinstance(target, type) else _object({})
        stages[name]["description"] = registered.spec.summary or summary_line(cls.__doc__)
        if not stages[name].get("required"):
            bare.append(name)
            stages[name]["type"] = ["object", "null"]
    for alias, name in registry.aliases.items():
        if name in stages:
            stages[alias] = {**stages[name], "deprecated": True, "description": f"Another name of {name}."}
            bare += [alias] if name in bare else []
    schema = _file_schema(
        _stages_schema(stages, bare, options), _workflow_schema(registry), _executor_schemas(registry)
    )
    variable = {"type": "string", "pattern": r"\$\{", "description": "A value from --set or the environment."}
    schema["$defs"] = {"variable": variable} | _lift_definitions(schema)
    if left_out:
        schema["$comment"] = "left out: " + "; ".join(left_out)
    return schema


def _stages_schema(stages: Mapping[str, Any], bare: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
    # One object with every stage as a property completes better in editors than one alternative per stage.
    entry = _object({**stages, "with": _object({**options}, description="Options of the stage.")})
    entry |= {"minProperties": 1, "maxProperties": 2}
    return {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"enum": bare, "description": "A stage with its defaults."}, entry]},
    }


def _file_schema(stages: dict[str, Any], workflow: dict[str, Any], executors: list[dict[str, Any]]) -> dict[str, Any]:
    step = _object(
        {
            "name": {"type": "string", "description": "Name in reports and in the run directory."},
            "stages": {"$ref": "#/properties/stages"},
            "workflow": {"$ref": "#/properties/workflow"},
        },
        required=["name"],
    )
    step["oneOf"] = [{"required": ["stages"]}, {"required": ["workflow"]}]
    properties = {
        "version": {"const": FILE_VERSION, "description": "Version of the file format."},
        "name": {"type": ["string", "number"], "description": "Name in reports; the file's name unless given."},
        "description": {"type": "string", "description": "What the pipeline is for."},
        "stages": stages,
        "workflow": workflow,
        "steps": {"type": "array", "minItems": 1, "items": step, "description": "Pipelines and workflows in order."},
        "executor": {"anyOf": executors, "description": "How to run it."},
    }
    schema = _object(properties, description="A curator pipeline or workflow.", required=["version"])
    schema["oneOf"] = [{"required": ["stages"]}, {"required": ["workflow"]}, {"required": ["steps"]}]
    return {"$schema": DIALECT, "title": "curator pipeline", **schema}


def _workflow_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of a workflow, in the place of stages; one that cannot be imported is left out."""
    schemas: dict[str, Any] = {}
    for name, registered in registry.workflows.items():
        try:
            schemas[name] = _parameters_schema(registered.load())
        except CuratorError:
            continue
        schemas[name]["description"] = registered.spec.summary
    return {**_object(schemas, description="A whole job, instead of stages."), "minProperties": 1, "maxProperties": 1}


def _parameters_schema(cls: type) -> dict[str, Any]:
    parameters = parameters_of(cls)
    schema = _object(
        {each.name: _parameter_schema(each) for each in parameters.values()},
        required=[each.name for each in parameters.values() if each.required],
    )
    schema["additionalProperties"] = accepts_any_parameter(cls)
    return schema


def _parameter_schema(parameter: Parameter) -> dict[str, Any]:
    schema = _or_variable(_type_schema(parameter.annotation))
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.default is not REQUIRED and isinstance(parameter.default, _PLAIN_JSON):
        schema["default"] = parameter.default
    return schema


def _options(cls: type[ProcessingStage[Any, Any]]) -> dict[str, Any]:
    return {option: _or_variable(_type_schema(option_type(cls, option))) for option in cls.options}


def _executor_schemas(registry: Registry) -> list[dict[str, Any]]:
    names = short_names(registry)
    schemas: list[dict[str, Any]] = [{"enum": names}]
    for name, registered in zip(names, registry.executors.values(), strict=True):
        try:
            schema = _parameters_schema(registered.load())
        except CuratorError:
            continue
        schema["properties"] = {"name": {"const": name}, **schema["properties"]}
        schema["required"] = ["name", *schema.get("required", [])]
        schemas.append(schema)
    return schemas


def _or_variable(schema: dict[str, Any]) -> dict[str, Any]:
    """Let ``${NAME}`` stand for a value of any type."""
    return schema if not schema or schema.get("type") == "string" else {"anyOf": [schema, _VARIABLE]}


def _type_schema(annotation: Any) -> dict[str, Any]:
    """Return the schema of a type; a type without one (a callable, a foreign class) accepts anything."""
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation

    try:
        around = adapter_for(annotation).json_schema(mode="validation")
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation):
        return {}
    definitions = {"$defs": around["$defs"]} if "$defs" in around else {}
    return {**around["prefixItems"][0], **definitions}


def _lift_definitions(schema: Any) -> dict[str, Any]:
    """Move nested ``$defs`` to the top, where references look for them."""
    found: dict[str, Any] = {}
    children = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    if isinstance(schema, dict) and isinstance(schema.get("$defs"), dict):
        found |= schema.pop("$defs")
    for child in children:
        found |= _lift_definitions(child)
    return found


def _object(properties: dict[str, Any], *, description: str = "", required: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if description:
        schema["description"] = description
    return schema
