"""Tasks as rows of Ray Data's blocks: many pickled tasks to a block, and workers' reports among them.

A stream of source tasks is cut into windows, because Ray Data wants lists.

Reports travel down the pipeline as rows of their own, so that they reach the driver with the outputs they describe, and
are lost and made again with them when Ray Data repeats a call.
"""

from __future__ import annotations

import math
import os
import pickle
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_core.authoring.stage import WorkerInfo
from curator_core.executors.ray.shipping import dumps, dumps_readable
from curator_core.executors.streaming.shell.worker import CallReport, StepHost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.executors.ray.shipping import PackedStage
    from curator_core.executors.streaming.shell.worker import WorkerOptions

__all__ = ["DataWorker", "evenly", "read_block", "windows", "write_block"]

_COLUMN = "pickled"
_SCHEMA = pa.schema([(_COLUMN, pa.large_binary())])
_FIRST_WINDOW_TASKS = 1_024
_WINDOW_GROWTH = 16
_WINDOW_TASKS = 65_536
_WINDOW_BYTES = 256 << 20


def windows(tasks: Iterable[Task[Any]]) -> Iterator[list[Task[Any]]]:
    """Yield lists of tasks, each larger than the one before, up to a bound in tasks and bytes."""
    max_tasks = _FIRST_WINDOW_TASKS
    window: list[Task[Any]] = []
    size_bytes = 0
    for task in tasks:
        window.append(task)
        size_bytes += task.size_bytes
        if len(window) >= max_tasks or size_bytes >= _WINDOW_BYTES:
            yield window
            window, size_bytes = [], 0
            max_tasks = min(max_tasks * _WINDOW_GROWTH, _WINDOW_TASKS)
    if window:
        yield window


def evenly(tasks: Sequence[Task[Any]], *, parts: int, max_tasks: int) -> Iterator[Sequence[Task[Any]]]:
    """Yield up to ``parts`` parts of nearly equal length; more where one would have over ``max_tasks`` tasks.

    >>> [list(part) for part in evenly([1, 2, 3, 4, 5], parts=3, max_tasks=100)]
    [[1, 2], [3, 4], [5]]
    """
    size = max(1, min(max_tasks, math.ceil(len(tasks) / parts)))
    for start in range(0, len(tasks), size):
        yield tasks[start : start + size]


def write_block(tasks: Sequence[Task[Any]]) -> pa.Table:
    """Return tasks as a table with a row for each."""
    return _table([dumps_readable(task) for task in tasks])


def read_block(block: pa.Table) -> Iterator[Task[Any] | CallReport]:
    """Yield what :func:`write_block` got, and workers' reports."""
    for value in block.column(_COLUMN):
        yield pickle.loads(value.as_buffer())  # noqa: S301 - written by our own processes


class DataWorker:
    """What Ray Data calls for every block."""

    def __init__(self, stages: list[PackedStage], options: WorkerOptions) -> None:
        import ray

        context = ray.get_runtime_context()
        self._host = StepHost(stages, options)
        worker = WorkerInfo(f"{context.get_worker_id()}-{os.getpid()}", context.get_node_id())
        self._opened: CallReport | None = self._host.open(worker)

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        """Process a block; yield blocks of bounded size, a report at the end of each."""
        items = list(read_block(block))
        reports = [dumps(item) for item in items if isinstance(item, CallReport)]
        opened, self._opened = self._opened, None
        if opened is not None:
            reports.append(dumps(opened))
        if reports:
            yield _table(reports)
        if opened is not None and opened.failure is not None:  # the driver ends the run; every block says so until then
            self._opened = opened
            return
        tasks = [item for item in items if not isinstance(item, CallReport)]
        while tasks:
            execution = self._host.execution(tasks, encoding=_rows)
            report = CallReport(is_done=False)
            while not report.is_done:
                rows, report = self._host.advance(execution)
                yield _table([*(rows or ()), dumps(report)])
                if report.failure is not None:
                    return
                tasks = tasks[report.completed :]

    def __del__(self) -> None:
        # Ray Data lets go of its workers at the end, and has no other word for it.
        if hasattr(self, "_host"):
            self._host.teardown()


def _rows(tasks: list[Task[Any]]) -> tuple[list[bytes], int]:
    """Return a row for each task, and their size."""
    rows = [dumps_readable(task) for task in tasks]
    return rows, sum(map(len, rows))


def _table(rows: list[bytes]) -> pa.Table:
    return pa.table({_COLUMN: pa.array(rows, pa.large_binary())}, schema=_SCHEMA)
