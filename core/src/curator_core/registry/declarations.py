"""The declaration hooks, and what a valid answer to each looks like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from curator_core.values.specs import CommandSpec, ExecutorSpec, StageKind, StageSpec, TaskTypeSpec, WorkflowSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DECLARATIONS", "SNAKE_CASE", "Declaration", "declaration_for", "problems_in"]

SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*")
_COMMAND = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_DOTTED = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
_OBJECT_TARGET = re.compile(rf"{_DOTTED}:{_DOTTED}", re.ASCII)
_MODULE_TARGET = re.compile(rf"{_DOTTED}(:{_DOTTED})?", re.ASCII)
_TUPLE_FIELDS = ("requires", "produces")


@dataclass(frozen=True)
class Declaration:
    """One kind of thing that plugins declare: the hook that returns its specs, and what names and targets look like."""

    hook: str
    spec_type: type[Any]
    noun: str
    names: re.Pattern[str] = SNAKE_CASE
    names_like: str = "snake_case"
    targets: re.Pattern[str] = _OBJECT_TARGET


DECLARATIONS = (
    Declaration("curator_stages", StageSpec, "stage"),
    Declaration("curator_task_types", TaskTypeSpec, "task type", _CAMEL_CASE, "CamelCase"),
    Declaration("curator_executors", ExecutorSpec, "executor"),
    Declaration("curator_workflows", WorkflowSpec, "workflow"),
    Declaration("curator_commands", CommandSpec, "command", _COMMAND, "lower-case", _MODULE_TARGET),
)


def declaration_for(spec_type: type) -> Declaration:
    """Return the declaration whose specs have the given type."""
    return next(each for each in DECLARATIONS if each.spec_type is spec_type)


def problems_in(answer: Any, declaration: Declaration) -> Iterator[str]:
    """Yield one line for everything wrong with what a declaration hook returned."""
    expected = declaration.spec_type.__name__
    if not isinstance(answer, (list, tuple)):
        yield f"{declaration.hook} returned {type(answer).__name__}, not a list of {expected}"
        return
    seen: set[str] = set()
    for spec in answer:
        if not isinstance(spec, declaration.spec_type):
            yield f"{declaration.hook} returned a list with {type(spec).__name__} in it, not only {expected}"
            continue
        yield from _problems_of_spec(spec, declaration)
        if isinstance(spec.name, str):
            if spec.name in seen:
                yield f"{declaration.noun} {spec.name!r} is declared twice"
            seen.add(spec.name)


def _problems_of_spec(spec: Any, declaration: Declaration) -> Iterator[str]:
    what = f"{declaration.noun} {spec.name!r}"
    if not isinstance(spec.name, str) or not declaration.names.fullmatch(spec.name):
        yield f"{what}: the name is not {declaration.names_like}"
    if getattr(spec, "alias_of", None) is not None:
        plugin, _, name = str(spec.alias_of).partition(".")
        if not (isinstance(spec.alias_of, str) and SNAKE_CASE.fullmatch(plugin) and SNAKE_CASE.fullmatch(name)):
            yield f"{what}: alias_of {spec.alias_of!r} is not the full name of a stage, such as 'table.where'"
        if spec.target:
            yield f"{what}: an alias has no target of its own, and this one names {spec.target!r}"
    elif not isinstance(spec.target, str) or not declaration.targets.fullmatch(spec.target):
        yield f"{what}: target {spec.target!r} does not have the form 'package.module:Name'"
    if not isinstance(spec.summary, str):
        yield f"{what}: the summary is {type(spec.summary).__name__}, not text"
    for field in _TUPLE_FIELDS:
        value = getattr(spec, field, ())
        # A plain string here would be taken apart into letters.
        if not isinstance(value, (tuple, list)) or not all(isinstance(each, str) for each in value):
            yield f"{what}: {field}={value!r} is not a tuple of names"
    if isinstance(spec, StageSpec) and spec.kind not in get_args(StageKind):
        yield f"{what}: kind {spec.kind!r} is not one of {', '.join(get_args(StageKind))}"
