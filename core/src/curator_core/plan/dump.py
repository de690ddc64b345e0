"""Write a pipeline as YAML that reads back as the same pipeline."""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import yaml

from curator_core.authoring.function_stage import code_of
from curator_core.parameters.params import parameter_values
from curator_core.parameters.references import escape, without_secrets
from curator_core.parameters.signature import parameters_of
from curator_core.plan.yaml_dialect import PlainDumper
from curator_core.values.errors import ConfigError, CuratorError

if TYPE_CHECKING:
    from curator_core.authoring.stage import ProcessingStage
    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.registry import Registry

__all__ = ["dump_pipeline", "plain_value", "registry_name"]


def dump_pipeline(pipeline: Pipeline, *, registry: Registry, hide_secrets: bool = False) -> str:
    """Return a pipeline as the text of a pipeline file; what has its default value is left out.

    Args:
        pipeline: The pipeline.
        registry: Where the names of its stages are looked up.
        hide_secrets: Write secrets as asterisks where they did not come from a variable.

    Raises:
        ConfigError: A stage is not registered, does not keep its parameters, or has one that YAML cannot hold.
    """
    document: dict[str, Any] = {"version": 1, "name": escape(pipeline.name)}
    if pipeline.description:
        document["description"] = escape(pipeline.description)
    document["stages"] = [_entry(stage, registry) for stage in pipeline.stages]
    document = without_secrets(document, pipeline.references, mask=hide_secrets)
    # The width keeps long strings on one line; a folded string is hard to read and to edit.
    return yaml.dump(document, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=1_000_000)


def _entry(stage: ProcessingStage[Any, Any], registry: Registry) -> Any:
    name = registry_name(stage, registry)
    changed = _changed_options(stage)
    values = {} if _is_ready_made(stage, name, registry) else parameter_values(stage, with_defaults=False)
    params = {key: value for key, value in values.items() if key not in changed}
    shown = {key: plain_value(value, f"{name}.{key}") for key, value in params.items()}
    options = {key: plain_value(value, f"{name} with.{key}") for key, value in changed.items()}
    if not shown and not options:
        return name
    return {name: shown, **({"with": options} if options else {})}


def _changed_options(stage: ProcessingStage[Any, Any]) -> dict[str, Any]:
    """Return the options that were changed, by ``with_`` or by setting the attribute."""
    params = parameters_of(type(stage))
    own = {
        option: value
        for option, value in vars(stage).items()
        if option in stage.options and option not in params and value != getattr(type(stage), option, None)
    }
    return {option: (own | stage.overrides)[option] for option in stage.options if option in own | stage.overrides}


def plain_value(value: Any, where: str) -> Any:  # noqa: PLR0911 - one line per kind of value
    """Return a value as YAML can hold it; dataclasses become mappings without their defaults.

    Raises:
        ConfigError: There is no such form.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return plain_value(value.value, where)
    if isinstance(value, (str, os.PathLike)):
        return escape(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: plain_value(each, f"{where}.{key}") for key, each in _fields(value).items()}
    if isinstance(value, Mapping):
        return {key: plain_value(each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((plain_value(each, where) for each in value), key=lambda each: (str(type(each)), each))
    if isinstance(value, (list, tuple)):
        return [plain_value(each, f"{where}[{position}]") for position, each in enumerate(value)]
    return _jsonable(value, where)


def _fields(value: Any) -> dict[str, Any]:
    kind: type = type(value)
    defaults = parameters_of(kind)
    return {
        field.name: each
        for field in dataclasses.fields(value)
        if field.init and ((each := getattr(value, field.name)) != defaults[field.name].default)
    }


def _jsonable(value: Any, where: str) -> Any:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        plain = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError) as error:
        raise ConfigError(
            f"{where}: a {type(value).__name__} cannot be written to a pipeline file",
            fix="use parameters that are text, numbers, lists, mappings or dataclasses of these",
        ) from error
    return escape(plain) if isinstance(plain, str) else plain


def registry_name(stage: ProcessingStage[Any, Any], registry: Registry) -> str:
    """Return the registry name of a stage's class or function, or of the stage itself where it was declared ready-made.

    Raises:
        ConfigError: No plugin registers it.
    """
    if stage.name in registry.stages and _is_ready_made(stage, stage.name, registry):
        return stage.name
    thing = code_of(stage)
    module, qualified = thing.__module__, thing.__qualname__
    # The right attribute of another module is perhaps the same class, registered from where it is re-exported.
    same_attribute = [
        name for name, each in registry.stages.items() if each.spec.target.rpartition(":")[2] == qualified
    ]
    # A class may be registered twice; the name it bears itself comes first, then names that can be used here.
    own_name = getattr(type(stage), "name", "")
    same_attribute.sort(key=lambda name: (name != own_name, not registry.stages[name].available))
    for name in same_attribute:
        if registry.stages[name].spec.target == f"{module}:{qualified}" or _is_target(thing, name, registry):
            return name
    raise ConfigError(
        f"stage {stage.name!r} ({module}.{qualified}) is registered by no plugin, so a pipeline file cannot name it",
        fix="register it in a plugin (curator plugin new NAME), or keep this pipeline in Python",
    )


def _is_ready_made(stage: ProcessingStage[Any, Any], name: str, registry: Registry) -> bool:
    """Return whether a name stands for a finished stage, of which this is a copy: nothing of it is configured."""
    target = _target(name, registry)
    return not isinstance(target, type) and type(target) is type(stage)


def _is_target(thing: Any, name: str, registry: Registry) -> bool:
    target = _target(name, registry)
    return target is thing or getattr(target, "function", None) is thing


def _target(name: str, registry: Registry) -> Any:
    try:
        return registry.stage_target(name)
    except CuratorError:
        return None
