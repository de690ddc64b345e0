"""What a worker does with a call: run the stages of its step over some tasks, in parts of bounded size."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import EmptyTask
from curator_core.call.interrupts import reraise_interrupt
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.shell.breadcrumbs import run_noting
from curator_core.executors.streaming.shell.chunk_codec import approximate_bytes, encode
from curator_core.plan.fusion import makes_iterators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.call.runner import StageRunner
    from curator_core.run.worker_state import Reports, WorkerState

__all__ = ["Budget", "CallExecution", "Part"]


@dataclass(frozen=True)
class Budget:
    """When a part of a call is large enough.

    Args:
        seconds: After this time no further input is taken, and a part that has outputs is passed on.
        size_bytes: A part with this much output is passed on, as soon as it has an output of the input taken last. This
            bounds what a stage yields for one input. It does not bound what is made of a batch, all of whose inputs are
            taken at once, nor of an iterator that ``process`` returns instead of being a generator itself, if its stage
            is fused with one that takes batches.
    """

    seconds: float = Tuning().call_limit_s
    size_bytes: int = Tuning().max_part_bytes


@dataclass
class Part:
    """Outputs of a call that are passed on together.

    Args:
        outputs: The outputs.
        payload: The outputs, encoded; None where there are none.
        size_bytes: Size of that.
        is_done: Whether they are the last.
        consumed: Inputs that were taken, without those that were complete before this part.
        completed: Those of them that are complete now, with all their outputs in this part or in earlier ones: all of
            them if the call is done, all but the last otherwise.
        open_outputs: Outputs passed on so far of the input that is not complete.
        reports: What the stages reported while they made these outputs.
    """

    outputs: list[Task[Any]]
    payload: Any
    size_bytes: int
    is_done: bool
    consumed: int
    completed: Sequence[Task[Any]]
    open_outputs: int
    reports: Reports


class CallExecution:
    """One call. Inputs are pulled one by one, so that those not begun when time is up can go to another worker.

    A part ends only behind an output of the input taken last. Outputs come in the order of their inputs, so the inputs
    before it are complete, and only the last one has to be repeated if the worker dies before the next part.

    Args:
        runners: The stages of the step, set up.
        state: Where they report.
        tasks: The inputs.
        budget: When to pass a part on.
        skip: Leave out so many outputs of the first input, which an earlier try has passed on.
        limit: Make so many outputs at most: the chunk that is made again has no more.
        notes: Run and call under which to note the stage that is running, for a call that may not come back.
        encoding: Makes outputs ready to travel and says their size, or raises.
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
        encoding: Callable[[list[Task[Any]]], tuple[Any, int]] = encode,
    ) -> None:
        self.makes_sources = any(issubclass(kind, EmptyTask) for kind in set(map(type, tasks)))
        """Whether the outputs are source tasks."""
        self._consumed = 0
        self._completed = 0
        self._open_outputs = skip
        self._encode = encoding
        self._state = state
        self._tasks = tasks
        self._budget = budget
        self._skip = skip
        self._limit = limit
        self._takes_input = True
        self._last_runner = runners[-1]
        self._is_open = any(makes_iterators(runner.stage) for runner in runners)
        self._next: Task[Any] | None = None  # made, but left for the next part
        self._deadline_s = 0.0
        self._outputs = self._inputs() if notes is None else run_noting(runners, self._inputs(), *notes)
        for runner in runners if notes is None else ():
            self._outputs = runner.run(self._outputs)
        if skip or limit is not None:  # counted in outputs that could be sent
            self._outputs = runners[-1].portable(self._outputs, encoding)

    def next_part(self) -> Part:
        """Return further outputs."""
        self._deadline_s = time.perf_counter() + self._budget.seconds
        before = self._completed
        outputs, is_last = self._make()
        outputs, payload, size_bytes = self._encoded(outputs)
        reports = self._state.take()  # before looking ahead: what that reports belongs to the next part
        is_done = is_last
        if not is_last and not self._skip and self._has_ended():
            is_done = True
            reports.merge(self._state.take())
        if is_done:
            self._completed, self._open_outputs = self._consumed, 0
        else:
            self._follow(outputs)
        completed = self._tasks[before : self._completed]
        consumed = self._consumed - before
        return Part(outputs, payload, size_bytes, is_done, consumed, completed, self._open_outputs, reports)

    def close(self) -> None:
        """Give the call up. What it has done since the last part is repeated by another call, and counted there."""
        if isinstance(self._outputs, Generator):
            self._outputs.close()
        self._state.take()

    def _make(self) -> tuple[list[Task[Any]], bool]:
        """Make outputs until the budget is used up; return them and whether they are known to be the last."""
        if self._skip and not self._leave_out():
            return [], False
        part: list[Task[Any]] = [] if self._next is None else [self._next]
        self._next = None
        size_bytes = sum(map(approximate_bytes, part))
        whole = self._limit is not None  # a lost chunk is made again in one piece
        for output in self._outputs:
            part.append(output)
            if whole:
                if len(part) == self._limit:
                    break
                continue
            size_bytes += approximate_bytes(output)
            if size_bytes < self._budget.size_bytes and time.perf_counter() <= self._deadline_s:
                continue
            self._takes_input = False
            if self._is_of_last_input(output):
                return part, False
        return part, True

    def _encoded(self, outputs: list[Task[Any]]) -> tuple[list[Task[Any]], Any, int]:
        """Return outputs in the form that travels, without those that cannot, which are taken back."""
        if not outputs:
            return outputs, None, 0
        try:
            return outputs, *self._encode(outputs)
        except BaseException as error:  # noqa: BLE001 - isolation border: a task may hold anything
            reraise_interrupt(error)
            outputs = list(self._last_runner.portable(outputs, self._encode))
            return outputs, *(self._encode(outputs) if outputs else (None, 0))

    def _has_ended(self) -> bool:
        """Return whether there is nothing more to come, where that can be told at once.

        Stages that make a few tasks of one have usually ended, which saves asking them again; a stage that makes an
        open number of tasks may take any time for its next one.
        """
        if self._is_open:
            return False
        self._next = next(self._outputs, None)
        return self._next is None

    def _leave_out(self) -> bool:
        """Make outputs that were passed on before, to leave them out; return False when the time is up before."""
        is_in_time = True
        while self._skip and is_in_time:
            self._skip = 0 if next(self._outputs, None) is None else self._skip - 1
            is_in_time = self._limit is not None or time.perf_counter() <= self._deadline_s
        self._state.take()  # these outputs were counted when they were passed on
        return not self._skip

    def _follow(self, outputs: list[Task[Any]]) -> None:
        """Count what was passed on of the input taken last; those before it are complete."""
        last = self._consumed - 1
        if self._completed < last:
            self._completed = last
            self._open_outputs = sum(_is_made_of(output, self._tasks[last]) for output in outputs)
        else:
            self._open_outputs += len(outputs)

    def _is_of_last_input(self, output: Task[Any]) -> bool:
        """Return whether an output was made of the input taken last, so that those before it are complete."""
        last = self._consumed - 1
        return self._completed == last or _is_made_of(output, self._tasks[last])

    def _inputs(self) -> Iterator[Task[Any]]:
        for task in self._tasks:
            if not self._takes_input:
                return
            if self._consumed and self._limit is None and time.perf_counter() > self._deadline_s:
                return
            self._consumed += 1
            yield task


def _is_made_of(output: Task[Any], task: Task[Any]) -> bool:
    """Return whether a task descends from another: ids of children begin with those of their parents.

    So do those of sources that are made of empty tasks (``1-0``), unless they are files, which have ids of their own.
    """
    return output.task_id == task.task_id or output.task_id.startswith((f"{task.task_id}/", f"{task.task_id}-"))
