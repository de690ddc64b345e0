"""A row-wise stage that takes its tables in parts, for tables that are too much for it at once."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import TableBatch, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curator_core.authoring.stage import ProcessingStage

__all__ = ["as_one_table", "divided"]


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
    """Return what a row-wise stage made, of one table or of its parts, as one table; None where it made none.

    What is not made of tables is returned as it is, for the caller to refuse.
    """
    outputs: list[Any] = []
    for result in results:
        outputs += result if isinstance(result, (list, Iterator)) else [] if result is None else [result]
    if len(outputs) <= 1 or not all(isinstance(each, TableBatch) for each in outputs):
        return outputs[0] if len(outputs) == 1 else outputs or None
    return outputs[0].with_data(concat_tables([each.data for each in outputs]))
