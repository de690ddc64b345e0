"""Make a stage of a function."""

from __future__ import annotations

import typing
from typing import Any

from curator_core.authoring.stage import ProcessingStage
from curator_core.values.resources import Resources

if typing.TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.authoring.stage import Columns
    from curator_core.authoring.tasks import Task

__all__ = ["FunctionStage", "processing_stage"]


class FunctionStage(ProcessingStage["Task[Any]", "Task[Any]"]):
    """A stage whose :meth:`process` is a function. Still callable as that function."""

    def __init__(self, function: Callable[[Any], Any], reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
        self.function = function
        self.reads = reads
        self.writes = writes
        self.__doc__ = function.__doc__

    def __call__(self, task: Any) -> Any:
        return self.function(task)

    def process(self, task: Task[Any]) -> Any:
        return self.function(task)

    def inputs(self) -> Columns:
        return list(self.reads)

    def outputs(self) -> Columns:
        return list(self.writes)

    def annotated_types(self) -> tuple[Any, Any]:
        """Return the types the function declares for its task and its result, where it does."""
        try:
            hints = typing.get_type_hints(self.function)
        except (NameError, TypeError):  # annotations that only a type checker can resolve
            return Any, Any
        result = hints.pop("return", Any)
        return next(iter(hints.values()), Any), result


def processing_stage(
    *,
    name: str | None = None,
    resources: Resources | None = None,
    batch_size: int = 1,
    inputs: typing.Sequence[str] = (),
    outputs: typing.Sequence[str] = (),
) -> Callable[[Callable[[Any], Any]], FunctionStage]:
    """Turn a function of one task into a stage.

    >>> from curator_core import TableBatch
    >>> @processing_stage(name="shout", resources=Resources(cpus=1), inputs=["text"])
    ... def shout(batch: TableBatch) -> TableBatch:
    ...     return batch.with_column("text", batch.text("text").str.to_uppercase())
    >>> shout.process(TableBatch(data={"text": ["a"]})).data["text"].to_pylist()
    ['A']

    Args:
        name: Name of the stage; the function's unless given.
        resources: What one worker needs; one CPU unless given.
        batch_size: Kept for executors that send several tasks in a call.
        inputs: Columns the function reads.
        outputs: Columns the function adds.
    """

    def decorate(function: Callable[[Any], Any]) -> FunctionStage:
        stage = FunctionStage(function, tuple(inputs), tuple(outputs))
        stage.name = name or str(getattr(function, "__name__", "function"))
        stage.resources = resources or Resources(cpus=1.0)
        stage.batch_size = batch_size
        return stage

    return decorate
