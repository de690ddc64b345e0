"""A row-wise stage that takes its tables in parts, for tables that are too much for it at once."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from curator_core.tasks import TableBatch, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.stage import ProcessingStage

__all__ = ["divided"]


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
        outputs = [output for piece in pieces if (output := process(task.with_data(piece))) is not None]
        return outputs[0].with_data(concat_tables([each.data for each in outputs])) if outputs else None

    return process_in_parts
