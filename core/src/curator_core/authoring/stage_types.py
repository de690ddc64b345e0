"""Which task types a stage takes and makes, as far as its declaration tells."""

from __future__ import annotations

import types
import typing
from typing import Any, TypeVar

from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import TableBatch, Task

__all__ = ["is_known", "is_table", "task_types"]


def task_types(stage: ProcessingStage[Any, Any]) -> tuple[Any, Any]:
    """Return the input and output task type of a stage; ``Any`` where it does not say.

    >>> from curator_core import TableBatch
    >>> class Same(ProcessingStage[TableBatch, TableBatch]):
    ...     def process(self, task):
    ...         return task
    >>> task_types(Same())
    (<class 'curator_core.authoring.tasks.TableBatch'>, <class 'curator_core.authoring.tasks.TableBatch'>)
    """
    annotated = getattr(stage, "annotated_types", None)
    taken, made = annotated() if annotated is not None else _generic_arguments(type(stage))
    return _task_class(taken), _task_class(made)


def is_known(task_type: Any) -> bool:
    """Return whether a stage says which task type it means (``Any`` is a class from Python 3.11 on)."""
    return task_type is not Any and isinstance(task_type, type)


def is_table(task_type: Any) -> bool:
    """Return whether a stage says that it means tables."""
    return is_known(task_type) and issubclass(task_type, TableBatch)


def _generic_arguments(cls: type) -> tuple[Any, Any]:
    """Find ``ProcessingStage[X, Y]`` among the bases, with X and Y filled in from the classes below it."""
    for base in getattr(cls, "__orig_bases__", ()):
        origin = typing.get_origin(base)
        arguments = typing.get_args(base)
        if origin is ProcessingStage:
            return arguments[0], arguments[1]
        if isinstance(origin, type) and issubclass(origin, ProcessingStage):
            known = dict(zip(getattr(origin, "__parameters__", ()), arguments, strict=False))
            taken, made = _generic_arguments(origin)
            return known.get(taken, taken), known.get(made, made)
    for base in cls.__bases__:
        if issubclass(base, ProcessingStage) and base is not ProcessingStage:
            return _generic_arguments(base)
    return Any, Any


def _task_class(hint: Any) -> Any:
    """Reduce a type hint to a task class: the members of ``Y | list[Y] | None`` that are tasks, if they agree."""
    if isinstance(hint, (TypeVar, str, typing.ForwardRef)):
        return Any
    origin = typing.get_origin(hint)
    if origin is None:
        return hint if isinstance(hint, type) and issubclass(hint, Task) else Any
    if isinstance(origin, type) and issubclass(origin, Task):
        return origin
    arguments = [each for each in typing.get_args(hint) if each is not types.NoneType]
    found = {_task_class(each) for each in arguments}
    return found.pop() if len(found) == 1 else Any
