"""Stages from names and values: check parameters and options against the class, make the stage, read them back."""

from __future__ import annotations

import copy
import typing
from typing import TYPE_CHECKING, Any

from curator_core.authoring.function_stage import MadeOfFunction
from curator_core.authoring.stage import ProcessingStage
from curator_core.parameters.former_names import name_today
from curator_core.parameters.problems import Fault, did_you_mean, one_line, render_path
from curator_core.parameters.signature import accepts_any_parameter, attribute_type, parameters_of
from curator_core.parameters.validation import check_value
from curator_core.values.errors import ConfigError, CuratorError

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["build_stage", "check_options", "check_params", "construct", "option_type", "parameter_values"]

AnyStage = ProcessingStage[Any, Any]
_POSITIVE = (
    "batch_size",
    "workers",
    "workers_per_node",
    "max_calls_per_worker",
    "min_workers",
    "max_workers",
    "max_attempts",
    "model_batch_size",
)


def build_stage(
    cls: type[AnyStage] | AnyStage,
    name: str,
    params: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> AnyStage:
    """Make a stage of checked parameters.

    >>> from curator_core.authoring.filter import Filter
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class MinChars(Filter):
    ...     min_chars: int = 3
    ...     def judge(self, batch): ...
    >>> build_stage(MinChars, "demo.min_chars", {"min_chars": "5"}).min_chars
    5

    Args:
        cls: The stage's class, a stage made of a function, or a finished stage, which takes no parameters.
        name: Registry name, for messages.
        params: Arguments for the constructor.
        options: What to change with :meth:`ProcessingStage.with_`.

    Raises:
        ConfigError: Lists every parameter and option that is wrong.
    """
    stage, faults = construct(cls, params or {})
    target = cls if isinstance(cls, type) else type(cls)
    changes, option_faults = check_options(target, options or {})
    faults = [*faults, *(Fault(("with", *fault.path), fault.what) for fault in option_faults)]
    if faults:
        lines = (f"{'.'.join(filter(None, (name, render_path(fault.path))))}: {fault.what}" for fault in faults)
        raise ConfigError("\n".join(lines))
    made: AnyStage = stage.with_(**changes) if changes else stage
    return made


def construct(cls: type | AnyStage, params: Mapping[str, Any]) -> tuple[Any, list[Fault]]:
    """Check parameters and call the constructor; return the object, or None and what was wrong."""
    if isinstance(cls, MadeOfFunction):
        cls = type(cls)
    if not isinstance(cls, type):
        faults = [Fault((str(key),), "this stage takes no parameters") for key in params]
        return (None, faults) if faults else (copy.copy(cls), [])
    values, faults = check_params(cls, params)
    if faults:
        return None, faults
    try:
        return cls(**values), []
    except CuratorError as error:
        return None, [Fault((), one_line(error))]
    except Exception as error:  # noqa: BLE001 - a plugin's constructor may raise anything; the user gets the place
        return None, [Fault((), f"the constructor failed: {type(error).__name__}: {error}")]


def check_params(cls: type, params: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the parameters as the constructor wants them, and what is wrong with them."""
    known = parameters_of(cls)
    open_ended = accepts_any_parameter(cls)
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for key, value in params.items():
        if key in known:
            values[key], found = check_value(value, known[key].annotation)
            faults.extend(Fault((key, *fault.path), fault.what) for fault in found)
        elif open_ended and isinstance(key, str):
            values[key] = value
        else:
            faults.append(Fault((str(key),), f"unknown parameter{_known_names(key, known)}"))
    missing = [each.name for each in known.values() if each.required and each.name not in params]
    faults.extend(Fault((), f"parameter {name!r} is required") for name in missing)
    return values, faults


def check_options(cls: type[AnyStage], options: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return what to give to ``with_``, and what is wrong with it."""
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for key, value in options.items():
        if key not in cls.options:
            hint = "; it is a parameter, not an option" if key in parameters_of(cls) else _known_names(key, cls.options)
            faults.append(Fault((str(key),), f"unknown option{hint}"))
            continue
        values[key], found = check_value(value, option_type(cls, key))
        faults.extend(Fault((key, *fault.path), fault.what) for fault in found)
    min_workers, max_workers = values.get("min_workers"), values.get("max_workers")
    if min_workers is not None and max_workers is not None and min_workers > max_workers:
        what = f"expected at most max_workers, which is {max_workers}, got {min_workers}"
        faults.append(Fault(("min_workers",), what))
    return values, faults


def option_type(cls: type[AnyStage], option: str) -> Any:
    """Return the type of an option, with the bounds that its meaning gives it."""
    from pydantic import Field

    declared = attribute_type(cls, option)
    if option in _POSITIVE:
        whole = typing.Annotated[int, Field(ge=1)]
        return whole | None if type(None) in typing.get_args(declared) else whole
    if option == "timeout_s":
        return typing.Annotated[float, Field(gt=0)] | None
    if option == "name":
        return typing.Annotated[str, Field(min_length=1)]
    return declared


def parameter_values(stage: AnyStage, *, with_defaults: bool = True) -> dict[str, Any]:
    """Read the constructor's parameters back from a stage's attributes.

    >>> from curator_core.sdk import FileWriter
    >>> parameter_values(FileWriter("out"))
    {'path': 'out'}

    Args:
        stage: The stage.
        with_defaults: Also those that have their default values.

    Raises:
        ConfigError: A parameter is not kept under its own name.
    """
    values: dict[str, Any] = {}
    for parameter in parameters_of(type(stage)).values():
        if not hasattr(stage, parameter.name):
            raise ConfigError(
                f"stage {stage.name!r}: {type(stage).__name__} has no attribute {parameter.name!r}, "
                "so the parameter of that name cannot be read back",
                fix=f"set self.{parameter.name} = {parameter.name} in __init__, or make the class a dataclass",
            )
        value = getattr(stage, parameter.name)
        if with_defaults or parameter.required or not _same(value, parameter.default):
            values[parameter.name] = value
    return values


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    try:
        return bool(value == default) and isinstance(value, bool) == isinstance(default, bool)
    except Exception:  # noqa: BLE001 - values such as arrays refuse to be compared
        return False


def _known_names(name: object, known: typing.Iterable[str]) -> str:
    names = list(known)
    today = name_today(str(name), names)
    if today in names:
        return f", did you mean {today!r}?"
    return did_you_mean(name, names) or (f"; known: {', '.join(names)}" if names else "; there are none")
