"""Compare the output of a stage with the expected output, and describe the first difference."""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING, Any

from curator_core.sdk import TableBatch, concat_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from curator_core.sdk import Task

__all__ = ["merged_table", "table_difference", "task_difference", "values_equal"]


def task_difference(expected: Sequence[Task[Any]], found: Sequence[Task[Any]]) -> str | None:
    """Say how two lists of tasks differ in their data, or return None."""
    if len(expected) != len(found):
        return f"{len(found)} tasks instead of {len(expected)}"
    for left, right in zip(expected, found, strict=True):
        if isinstance(left, TableBatch) and isinstance(right, TableBatch):
            difference = table_difference(left.data, right.data)
        else:
            difference = None if _payloads_equal(left.data, right.data) else f"{right.data!r} instead of {left.data!r}"
        if difference:
            return difference
    return None


def table_difference(expected: pa.Table, found: pa.Table, *, tolerance: float = 0.0) -> str | None:
    """Say how two tables differ, or return None.

    Args:
        expected: The one.
        found: The other.
        tolerance: Relative difference up to which floats count as equal.
    """
    if expected.column_names != found.column_names:
        return f"columns {found.column_names} instead of {expected.column_names}"
    for name in expected.column_names:
        left, right = expected.column(name), found.column(name)
        if left.type != right.type:
            return f"column {name!r} holds {right.type} instead of {left.type}"
        if len(left) != len(right):
            return f"{len(right)} rows instead of {len(left)}"
        for row, (one, other) in enumerate(zip(left.to_pylist(), right.to_pylist(), strict=True)):
            if not values_equal(one, other, tolerance=tolerance):
                return f"row {row} of column {name!r} is {_short(other)} instead of {_short(one)}"
    return None


def merged_table(tasks: Sequence[Task[Any]]) -> pa.Table | None:
    """Return the rows of all tasks in one table; None where there are no tables."""
    tables = [task.data for task in tasks if isinstance(task, TableBatch)]
    return concat_tables(tables) if tables else None


def values_equal(one: Any, other: Any, *, tolerance: float = 0.0) -> bool:
    """Compare plain values; NaN equals NaN.

    >>> values_equal([1.0, float("nan")], [1.0, float("nan")])
    True
    """
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=tolerance) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            values_equal(left, right, tolerance=tolerance) for left, right in zip(one, other, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            values_equal(value, other[key], tolerance=tolerance) for key, value in one.items()
        )
    return bool(one == other)


def _payloads_equal(one: Any, other: Any) -> bool:
    # Arrays and the like answer == with something that is neither true nor false; their bytes tell.
    return pickle.dumps(one) == pickle.dumps(other) or _is_true(one == other)


def _is_true(answer: Any) -> bool:
    return isinstance(answer, bool) and answer


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
