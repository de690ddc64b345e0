"""Make stages of functions; their further parameters are configuration, as those of a constructor are."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import typing
from typing import Any, ClassVar

from curator_core.authoring.stage import ProcessingStage
from curator_core.values.errors import ConfigError
from curator_core.values.resources import Resources

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.authoring.stage import Columns
    from curator_core.authoring.tasks import Task

__all__ = ["FunctionStage", "MadeOfFunction", "code_of", "processing_stage", "stage_of_function", "type_hints_of"]

StageT = typing.TypeVar("StageT", bound=ProcessingStage[Any, Any])

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class MadeOfFunction:
    """What stages made of functions share. Each has a class of its own, made by :func:`stage_of_function`.

    A stage can be called as its function, with the stage's settings filled in. Called with settings alone, it returns
    a copy of the stage that has them.

    >>> from curator_core.sdk import row_filter
    >>> @row_filter
    ... def short(text, *, max_chars=3):
    ...     return len(text) <= max_chars
    >>> short.settings, short("abcd"), short(max_chars=4)("abcd")
    (('max_chars',), False, True)
    """

    function: ClassVar[Callable[..., Any]]
    settings: ClassVar[tuple[str, ...]] = ()
    """Parameters of the function that are configuration."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        if (
            not values
            and named
            and named.keys() <= {each.name for each in dataclasses.fields(typing.cast("Any", self))}
        ):
            twin = copy.copy(self)
            vars(twin).update(named)
            return twin
        return self.function(*values, **{**self.chosen(), **named})

    def chosen(self) -> dict[str, Any]:
        """Return the settings of this stage.

        Raises:
            ConfigError: One has no default and was not given.
        """
        missing = [name for name in self.settings if name not in vars(self)]
        if missing:
            raise ConfigError(
                f"parameter {missing[0]!r} is required",
                fix=f"give it in the pipeline file, or in Python: {type(self).__name__}({missing[0]}=...)",
            )
        return {name: getattr(self, name) for name in self.settings}

    def preflight(self) -> Sequence[str] | None:
        """Check that all settings are there."""
        self.chosen()
        return None


@dataclasses.dataclass(kw_only=True)
class FunctionStage(MadeOfFunction, ProcessingStage["Task[Any]", "Task[Any]"]):
    """A stage whose :meth:`process` is a function of a task."""

    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()

    def process(self, task: Task[Any]) -> Any:
        return self.function(task, **self.chosen()) if self.settings else self.function(task)

    def inputs(self) -> Columns:
        return list(self.reads)

    def outputs(self) -> Columns:
        return list(self.writes)

    def annotated_types(self) -> tuple[Any, Any]:
        """Return the types the function declares for its task and its result, where it does."""
        hints = type_hints_of(self.function)
        return hints.get(next(iter(inspect.signature(self.function).parameters), ""), Any), hints.get("return", Any)


@typing.overload
def processing_stage(function: Callable[..., Any], /) -> FunctionStage: ...


@typing.overload
def processing_stage(
    *,
    name: str | None = None,
    resources: Resources | None = None,
    batch_size: int = 1,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], FunctionStage]: ...


def processing_stage(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    resources: Resources | None = None,
    batch_size: int = 1,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> Any:
    """Turn a function of one task into a stage, with ``@processing_stage`` or ``@processing_stage(...)``.

    Further parameters of the function are the stage's configuration: in a pipeline file as those of any stage, checked
    by their types, in Python by calling the stage with them.

    >>> from curator_core import TableBatch
    >>> @processing_stage(name="shout", resources=Resources(cpus=1), inputs=["text"])
    ... def shout(batch: TableBatch, *, mark: str = "!") -> TableBatch:
    ...     return batch.with_column("text", batch.text("text").str.to_uppercase() + mark)
    >>> shout.process(TableBatch(data={"text": ["a"]})).data["text"].to_pylist()
    ['A!']
    >>> shout(mark="?").process(TableBatch(data={"text": ["a"]})).data["text"].to_pylist()
    ['A?']

    Args:
        function: Takes a task; returns one, a list of them, an iterator or None.
        name: Name of the stage; the function's unless given.
        resources: What one worker needs; one CPU unless given.
        batch_size: Kept for executors that send several tasks in a call.
        inputs: Columns the function reads.
        outputs: Columns the function adds.
    """

    def decorate(function: Callable[..., Any]) -> FunctionStage:
        options = {"reads": tuple(inputs), "writes": tuple(outputs), "batch_size": batch_size}
        return stage_of_function(function, FunctionStage, values=1, name=name, resources=resources, **options)

    return decorate if function is None else decorate(function)


def stage_of_function(
    function: Callable[..., Any],
    base: type[StageT],
    *,
    values: int,
    name: str | None,
    resources: Resources | None,
    **attributes: Any,
) -> StageT:
    """Return a stage of a class made for a function: a dataclass whose fields are the function's settings.

    Args:
        function: The function.
        base: The class that calls it, a dataclass.
        values: How many of the first parameters are no settings.
        name: Name of the stage; the function's unless given.
        resources: What one worker needs; one CPU unless given.
        attributes: What else the class has; fields of the base get these defaults.

    Raises:
        ConfigError: A setting has a name that means something else for a stage.
    """
    title = str(getattr(function, "__name__", "function"))
    parameters = [each for each in inspect.signature(function).parameters.values() if each.kind not in _VARIADIC]
    settings = parameters[values:]
    inherited = {each.name: each for each in dataclasses.fields(typing.cast("Any", base))}
    for each in settings:
        is_taken = each.name in inherited or hasattr(base, each.name)
        if is_taken or each.kind is each.POSITIONAL_ONLY:
            raise ConfigError(
                f"function {title!r}: {each.name!r} cannot be a parameter of a stage",
                fix="give it another name" if is_taken else "let it be passed by its name",
            )
    namespace = {
        "function": staticmethod(function),
        "settings": tuple(each.name for each in settings),
        "name": name or title,
        "resources": resources or Resources(cpus=1.0),
        "__doc__": function.__doc__,
    }
    hints = {each.name: Any if each.annotation is each.empty else each.annotation for each in settings}
    fields = [(each.name, hints[each.name], _default(each.default)) for each in settings]
    fields += [(key, inherited[key].type, _default(value)) for key, value in attributes.items() if key in inherited]
    namespace |= {key: value for key, value in attributes.items() if key not in inherited}
    made = dataclasses.make_dataclass(title, fields, bases=(base,), namespace=namespace, kw_only=True)
    made.__module__, made.__qualname__ = function.__module__, getattr(function, "__qualname__", title)
    required = [each.name for each in settings if each.default is each.empty]
    stage: StageT = made(**dict.fromkeys(required))
    for setting in required:
        delattr(stage, setting)
    return stage


def code_of(stage: ProcessingStage[Any, Any]) -> Any:
    """Return what says what a stage does: its class, or the function it is made of."""
    return stage.function if isinstance(stage, MadeOfFunction) else type(stage)


def type_hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types that a function declares, or none where they make sense to a type checker only."""
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):
        return {}


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return dataclasses.field()
    if value.__class__.__hash__ is None:  # a list, for example, of which each stage has its own
        return dataclasses.field(default_factory=lambda: copy.copy(value))
    return dataclasses.field(default=value)
