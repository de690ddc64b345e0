"""The stages of a plan in one process, as a line through which tasks are pulled."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage_types import is_table
from curator_core.authoring.tasks import EmptyTask, source_id
from curator_core.call.interrupts import watch_interrupts
from curator_core.call.runner import StageRunner
from curator_core.run.source_order import SourceOrder, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curator_core.authoring.stage import OnError
    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan, PlannedStage
    from curator_core.run.state import RunState

__all__ = ["StageLine", "open_line", "source_stages"]


class StageLine:
    """Stages of a plan that are set up in this process: first those that make the source tasks, then all others.

    >>> from curator_core import Pipeline, Task, processing_stage
    >>> from curator_core.run.state import RunState
    >>> @processing_stage(name="double")
    ... def double(task):
    ...     return task.with_data(task.data * 2)
    >>> with open_line(Pipeline("p", stages=[double]).build(), [Task(data=21)], RunState()) as line:
    ...     [task.data for task in line.run(line.sources)]
    [42]

    Args:
        sources: Makes the source tasks, which leave out those that an earlier run has done.
        runners: The other stages.
        state: The run; its outputs are sorted by their sources, in whatever order they are made.
    """

    def __init__(self, sources: Iterator[Task[Any]], runners: Sequence[StageRunner], state: RunState) -> None:
        self._runners = runners
        order = SourceOrder()
        state.in_order = partial(in_order, place=lambda source: order.place(source) or 0, by_children=False)
        self.sources = _numbered(until_stopped(sources, state), order)

    def run(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        """Run source tasks through all stages and yield the outputs; several threads may call this at the same time."""
        return _through(self._runners, tasks)


@contextmanager
def open_line(
    plan: Plan,
    tasks: Iterable[Task[Any]],
    state: RunState,
    *,
    on_error: OnError = "quarantine",
    max_attempts: int = 3,
    serialize: bool = False,
    row_limit: int | None = None,
    pack_sources: Callable[[list[Task[Any]]], object] | None = None,
) -> Iterator[StageLine]:
    """Set up the stages of a plan in this process, and tear them down at the end.

    >>> from curator_core import Pipeline, Task, processing_stage
    >>> from curator_core.run.state import RunState
    >>> @processing_stage(name="double")
    ... def double(task):
    ...     return task.with_data(task.data * 2)
    >>> plan = Pipeline("p", stages=[double]).build()
    >>> with open_line(plan, [Task(data=20), Task(data=21)], RunState()) as line:
    ...     [task.data for task in line.run(line.sources)]
    [40, 42]

    Args:
        plan: The plan.
        tasks: The initial tasks of the run.
        state: The run.
        on_error: What happens to a task that keeps failing, unless its stage has its own policy.
        max_attempts: How often a failing call is tried, unless the stage says.
        serialize: Let one thread at a time into a stage that is not thread-safe.
        row_limit: End after so many rows from the first stage that makes tables, which then counts as source.
        pack_sources: Set up only the stages that make source tasks, and makes these ready to travel elsewhere, or
            raises for one that cannot.
    """
    stages = plan.stages
    limited = None if row_limit is None else _first_table_stage(stages)
    split = source_stages(stages) if row_limit is None else 0 if limited is None else 1 + list(stages).index(limited)
    if state.ledger is not None and pack_sources is None:
        state.ledger.start(len(stages))
    with ExitStack() as cleanup:
        cleanup.enter_context(watch_interrupts())
        runners = []
        for number, planned in enumerate(stages if pack_sources is None else stages[:split]):
            runner = StageRunner(
                planned.stage,
                state,
                on_error=on_error,
                max_attempts=max_attempts,
                # The sources' iterators pass from thread to thread under a lock; they need none of their own.
                serialize=serialize and number >= split,
                row_limit=row_limit if planned is limited else None,
                progress=state.progress_of(number),
                finished_sources=state.finished_sources if number < plan.source_makers else (),
            )
            cleanup.callback(runner.teardown)
            runner.setup()
            runners.append(runner)
        sources = _through(runners[:split], until_stopped(state.sources(tasks), state))
        if pack_sources is not None and split:
            sources = runners[split - 1].portable(sources, pack_sources)
        yield StageLine(sources, runners[split:], state)


def source_stages(stages: Sequence[PlannedStage]) -> int:
    """Return how many leading stages make the source tasks.

    Listing files makes work for all threads or workers and so belongs to none of them.
    """
    count = 0
    while count < len(stages) and stages[count].input_type is EmptyTask:
        count += 1
    return count


def until_stopped(tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
    """Pass tasks on until the run is asked to stop."""
    for task in tasks:
        if state.stop_requested.is_set():
            return
        yield task


def _through(runners: Sequence[StageRunner], tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
    """Chain the stages: each pulls from the one before."""
    stream = iter(tasks)
    for runner in runners:
        stream = runner.run(stream)
    return stream


def _numbered(sources: Iterable[Task[Any]], order: SourceOrder) -> Iterator[Task[Any]]:
    """Pass sources on, and record the position of each in ``order``."""
    for task in sources:
        order.add(source_id(task.task_id))
        yield task


def _first_table_stage(stages: Sequence[PlannedStage]) -> PlannedStage | None:
    return next((planned for planned in stages if is_table(planned.output_type)), None)
