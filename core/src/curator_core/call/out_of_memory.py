"""Recover from calls that ran out of memory: recognise them, free memory, and retry with parts of a table."""

from __future__ import annotations

import copy
import gc
import math
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import TableBatch, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curator_core.authoring.stage import ProcessingStage

__all__ = ["as_one_table", "divided", "is_out_of_memory", "release_memory"]

_CLASS_NAME = "OutOfMemoryError"  # torch.cuda, torch, cupy, each a class of its own
_MESSAGES = ("CUDA out of memory", "RESOURCE_EXHAUSTED")  # older torch and jax raise errors of no special class


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a call failed because its input was too large for the memory, of the machine or of a GPU.

    Decided by name, because the libraries that raise such errors must not be imported to ask.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(RuntimeError("CUDA out of memory. Tried to …"))
    (True, True)
    """
    if isinstance(error, MemoryError) or any(each.__name__ == _CLASS_NAME for each in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(each in str(error) for each in _MESSAGES)


def release_memory(error: BaseException) -> None:
    """Free what the failed call held: its local variables, garbage, and the GPU memory that torch keeps."""
    traceback.clear_frames(error.__traceback__)
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def divided(stage: ProcessingStage[Any, Any], parts: int) -> ProcessingStage[Any, Any]:
    """Return a stage that makes the same of a table, but of a part of its rows at a time.

    Only a row-wise stage can be divided; any other is returned as it is.
    """
    if not stage.row_wise or parts <= 1:
        return stage
    twin = copy.copy(stage)
    object.__setattr__(twin, "process", _in_parts(stage.process, parts))  # whatever the class thinks of attributes
    return twin


def _in_parts(process: Callable[[Any], Any], parts: int) -> Callable[[Any], Any]:
    def process_in_parts(task: Any) -> Any:
        if not isinstance(task, TableBatch) or task.num_rows <= 1:
            return process(task)
        size = math.ceil(task.num_rows / parts)
        pieces = [task.data.slice(begin, size) for begin in range(0, task.num_rows, size)]
        return as_one_table(process(task.with_data(piece)) for piece in pieces)

    return process_in_parts


def as_one_table(results: Iterable[Any]) -> Any:
    """Join the outputs of a row-wise stage into one table; None if there are none.

    What is not made of tables is returned as it is, for the caller to refuse.
    """
    outputs: list[Any] = []
    for result in results:
        outputs += result if isinstance(result, (list, Iterator)) else [] if result is None else [result]
    if len(outputs) <= 1 or not all(isinstance(each, TableBatch) for each in outputs):
        return outputs[0] if len(outputs) == 1 else outputs or None
    return outputs[0].with_data(concat_tables([each.data for each in outputs]))
