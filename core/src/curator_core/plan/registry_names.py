"""From a stage back to the name that the registry knows it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.authoring.function_stage import FunctionStage
from curator_core.values.errors import ConfigError, CuratorError

if TYPE_CHECKING:
    from curator_core.authoring.stage import ProcessingStage
    from curator_core.registry import Registry

__all__ = ["registry_name"]


def registry_name(stage: ProcessingStage[Any, Any], registry: Registry) -> str:
    """Return the registry name of a stage's class (or function).

    Raises:
        ConfigError: No plugin registers it.
    """
    thing: Any = stage.function if isinstance(stage, FunctionStage) else type(stage)
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


def _is_target(thing: Any, name: str, registry: Registry) -> bool:
    try:
        target: Any = registry.stage_target(name)
    except CuratorError:
        return False
    return target is thing or getattr(target, "function", None) is thing
