"""What a worker does with a call: run the stages of its step over some tasks, in parts of bounded size."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.breadcrumbs import run_noting
from curator_core.executors.streaming.chunk_codec import approximate_bytes
from curator_core.executors.streaming.chunk_sizing import LONGEST_CALL_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.runner import StageRunner
    from curator_core.stage import ProcessingStage
    from curator_core.tasks import Task
    from curator_core.worker_state import WorkerState

__all__ = ["Budget", "CallExecution"]


@dataclass(frozen=True)
class Budget:
    """When a part of a call is large enough.

    Args:
        seconds: After this time no further input is taken, and a part that has outputs is passed on.
        size_bytes: A part with this much output is passed on.
    """

    seconds: float = LONGEST_CALL_S
    size_bytes: int = 16 << 20


class CallExecution:
    """One call. Inputs are pulled one by one, so that those not begun when time is up can go to another worker.

    Args:
        runners: The stages of the step, set up.
        state: Where they report.
        tasks: The inputs.
        budget: When to pass a part on.
        skip: Leave out so many outputs, which an earlier try has passed on.
        limit: Make so many outputs at most: the chunk that is made again has no more.
        notes: Run and call under which to note the stage that is running, for a call that may not come back.
    """

    def __init__(
        self,
        runners: Sequence[StageRunner],
        state: WorkerState,
        tasks: Sequence[Task[Any]],
        budget: Budget,
        *,
        skip: int = 0,
        limit: int | None = None,
        notes: tuple[str, int] | None = None,
    ) -> None:
        self.consumed = 0
        self.service_s = 0.0
        self._state = state
        self._tasks = tasks
        self._budget = budget
        self._skip = skip
        self._limit = limit
        self._takes_input = True
        self._is_open = any(_makes_iterators(runner.stage) for runner in runners)
        self._next: Task[Any] | None = None  # made, but left for the next part
        self._deadline_s = 0.0
        self._outputs = self._inputs() if notes is None else run_noting(runners, self._inputs(), *notes)
        for runner in runners if notes is None else ():
            self._outputs = runner.run(self._outputs)

    @property
    def taken(self) -> Sequence[Task[Any]]:
        """The inputs that were taken so far."""
        return self._tasks[: self.consumed]

    def next_part(self) -> tuple[list[Task[Any]], bool]:
        """Return further outputs and whether they are the last."""
        started_s = time.perf_counter()
        self._deadline_s = started_s + self._budget.seconds
        try:
            return self._part()
        finally:
            self.service_s = time.perf_counter() - started_s

    def _part(self) -> tuple[list[Task[Any]], bool]:
        if self._skip:
            self._leave_out()
        part: list[Task[Any]] = [] if self._next is None else [self._next]
        self._next = None
        size_bytes = sum(map(approximate_bytes, part))
        whole = self._limit is not None  # a lost chunk is made again in one piece
        for output in self._outputs:
            part.append(output)
            if whole:
                if len(part) == self._limit:
                    return part, True
                continue
            size_bytes += approximate_bytes(output)
            if size_bytes >= self._budget.size_bytes or time.perf_counter() > self._deadline_s:
                self._takes_input = False
                return part, self._has_ended()
        return part, True

    def _has_ended(self) -> bool:
        """Return whether there is nothing more to come, where that can be told at once.

        Stages that make a few tasks of one have usually ended, which saves asking them again; a stage that makes an
        open number of tasks may take any time for its next one.
        """
        if self._is_open:
            return False
        self._next = next(self._outputs, None)
        return self._next is None

    def _leave_out(self) -> None:
        for _ in range(self._skip):
            if next(self._outputs, None) is None:
                break
        self._skip = 0
        self._state.take()  # these outputs were counted when they were passed on
        self._state.take_counts()

    def _inputs(self) -> Iterator[Task[Any]]:
        for task in self._tasks:
            if not self._takes_input:
                return
            if self.consumed and self._limit is None and time.perf_counter() > self._deadline_s:
                return
            self.consumed += 1
            yield task


def _makes_iterators(stage: ProcessingStage[Any, Any]) -> bool:
    return inspect.isgeneratorfunction(getattr(stage, "function", stage.process))
