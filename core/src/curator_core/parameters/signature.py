"""A class's configuration, read from its constructor: names, types, defaults and descriptions."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
import types
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "REQUIRED",
    "Parameter",
    "accepts_any_parameter",
    "argument_texts",
    "attribute_type",
    "parameters_of",
    "plain_text",
    "summary_line",
    "type_text",
]

REQUIRED: Any = inspect.Parameter.empty
"""Stands for the default of a parameter that has none."""
_SECTION = re.compile(r"^(?:Args|Arguments|Attributes|Parameters):\s*$")
_ENTRY = re.compile(r"^(?P<indent>\s+)(?P<name>\*{0,2}\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)$")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a constructor, with what the docstring says about it."""

    name: str  # also that of the attribute that keeps it
    annotation: Any  # Any where there is none, or none that can be resolved at run time
    default: Any = REQUIRED
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED


@functools.cache
def parameters_of(cls: type) -> Mapping[str, Parameter]:
    """Return the parameters of a class's constructor, in order."""
    texts = _descriptions(cls)
    factories = {
        field.name: field.default_factory
        for field in (dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ())
        if field.default_factory is not dataclasses.MISSING
    }
    found: dict[str, Parameter] = {}
    for each in _constructor_parameters(cls):
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        default = factories[each.name]() if each.name in factories and each.default is not REQUIRED else each.default
        annotation = _parameter_type(cls, each)
        found[each.name] = Parameter(each.name, annotation, default, texts.get(each.name, ""))
    return types.MappingProxyType(found)


def accepts_any_parameter(cls: type) -> bool:
    """Return whether the constructor takes ``**parameters`` of any name."""
    return any(each.kind is each.VAR_KEYWORD for each in _constructor_parameters(cls))


def attribute_type(cls: type, name: str) -> Any:
    """Return the type that a class or the nearest of its bases declares for an attribute, else ``Any``."""
    for owner in cls.__mro__:
        annotations = inspect.get_annotations(owner)
        if name in annotations:
            module_names = getattr(sys.modules.get(owner.__module__), "__dict__", {})
            return _resolve(annotations[name], module_names, dict(vars(owner)))
    return Any


def type_text(annotation: Any) -> str:  # noqa: PLR0911 - one line per kind of type
    """Return a type as a reader would write it.

    >>> type_text(list[str]), type_text(int), type_text(typing.Literal["a", "b"])
    ('list[str]', 'int', "'a' | 'b'")
    """
    if annotation is Any:
        return "any"
    if annotation is type(None):
        return "none"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_text(arguments[0])
    if origin is typing.Literal:
        return " | ".join(repr(each) for each in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(type_text(each) for each in arguments)
    if origin is not None:
        name = getattr(origin, "__name__", str(origin)).lower()
        inner = ", ".join(
            "…" if each is Ellipsis else type_text(each) for each in arguments if not isinstance(each, list)
        )
        return f"{name}[{inner}]" if inner else name
    return getattr(annotation, "__name__", str(annotation))


def summary_line(docstring: str | None) -> str:
    """Return the first line of a docstring, or nothing."""
    return inspect.cleandoc(docstring).partition("\n")[0].strip() if docstring else ""


def argument_texts(docstring: str | None) -> dict[str, str]:
    """Return the description of every argument in the ``Args`` section, each on one line.

    >>> argument_texts('''Do it.
    ...
    ...     Args:
    ...         depth: How deep,
    ...             in metres.
    ... ''')
    {'depth': 'How deep, in metres.'}
    """
    texts: dict[str, list[str]] = {}
    entry_indent: str | None = None
    current: list[str] | None = None
    in_section = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        if not line.strip():
            continue
        if not line[0].isspace():
            in_section, entry_indent, current = bool(_SECTION.match(line)), None, None
            continue
        if not in_section:
            continue
        entry = _ENTRY.match(line)
        if entry and entry["indent"] == (entry_indent or entry["indent"]):
            entry_indent = entry["indent"]
            current = texts.setdefault(entry["name"].lstrip("*"), [])
            current.append(entry["text"])
        elif current is not None:
            current.append(line.strip())
    return {name: plain_text(" ".join(part for part in parts if part)) for name, parts in texts.items()}


def plain_text(text: str) -> str:
    """Return text without the markup that is noise outside of generated documentation.

    >>> plain_text("Compress with ``gz`` or :class:`Zstandard`.")
    'Compress with gz or Zstandard.'
    """
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def _constructor_parameters(cls: type) -> list[inspect.Parameter]:
    constructor = cls.__init__  # type: ignore[misc]
    if constructor is object.__init__:
        return []
    return list(inspect.signature(constructor).parameters.values())[1:]


def _parameter_type(cls: type, parameter: inspect.Parameter) -> Any:
    if parameter.annotation is inspect.Parameter.empty:
        return Any
    constructor = cls.__init__  # type: ignore[misc]
    module_names = getattr(inspect.unwrap(constructor), "__globals__", {})
    resolved = _resolve(parameter.annotation, module_names, {})
    # A dataclass's constructor repeats the annotations of inherited fields, which may only make sense in the module
    # of the base that declares them.
    return attribute_type(cls, parameter.name) if resolved is Any else resolved


def _resolve(annotation: Any, global_names: dict[str, Any], local_names: dict[str, Any]) -> Any:
    holder = types.SimpleNamespace(__annotations__={"value": annotation})
    try:
        resolved = typing.get_type_hints(holder, global_names, local_names, include_extras=True)["value"]
    except (NameError, TypeError, AttributeError, SyntaxError):  # names that only a type checker can see
        return Any
    if isinstance(resolved, dataclasses.InitVar):
        return resolved.type
    return resolved


def _descriptions(cls: type) -> dict[str, str]:
    texts: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if owner is not object:
            texts |= argument_texts(owner.__doc__)
            texts |= argument_texts(getattr(owner.__dict__.get("__init__"), "__doc__", None))
    return texts
