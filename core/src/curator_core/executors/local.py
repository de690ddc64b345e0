"""Run a plan in this process: for debugging, notebooks, previews, tests, and jobs of a few gigabytes."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.authoring.stage_types import is_table
from curator_core.authoring.tasks import EmptyTask, source_id
from curator_core.call.failure_limit import checked_fraction
from curator_core.call.interrupts import watch_interrupts
from curator_core.call.runner import StageRunner
from curator_core.executors.base import Executor
from curator_core.executors.threads import side_by_side
from curator_core.run.source_order import SourceOrder, in_order
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan, PlannedStage
    from curator_core.run.state import RunState

__all__ = ["LocalExecutor"]


class LocalExecutor(Executor):
    """Run all stages in this process, pulling one task at a time through the whole line.

    Few tasks are in memory at a time: a stage is asked for its next output only when the one behind it wants more.

    >>> from curator_core import Pipeline, Task, processing_stage
    >>> @processing_stage(name="double")
    ... def double(task):
    ...     return task.with_data(task.data * 2)
    >>> result = Pipeline("demo", stages=[double]).run(LocalExecutor(), initial_tasks=[Task(data=n) for n in (1, 2)])
    >>> [task.data for task in result]
    [2, 4]

    Args:
        threads: How many source tasks are processed in parallel. Stages that are not declared thread-safe
            are entered by one thread at a time; Arrow, polars and numba release the interpreter lock.
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        max_attempts: How often a failing call is tried.
        limit: Stop after this many rows from the first stage that makes tables.
        max_failed_fraction: Share of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
    """

    def __init__(
        self,
        threads: int = 1,
        *,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        limit: int | None = None,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
    ) -> None:
        if threads < 1:
            raise ConfigError(f"LocalExecutor: threads is {threads}", fix="use 1 or more")
        if limit is not None and limit < 0:
            raise ConfigError(f"LocalExecutor: limit is {limit}", fix="use 0 or more rows")
        self.threads = threads
        self.on_error = on_error
        self.max_attempts = max_attempts
        self.max_failed_fraction = checked_fraction(max_failed_fraction)
        self.quarantine_payload = quarantine_payload
        self.limit = limit

    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        split = _source_stages(plan.stages, limited=self.limit is not None)
        if state.ledger is not None:
            state.ledger.start(len(plan.stages))
        with ExitStack() as cleanup:
            cleanup.enter_context(watch_interrupts())
            runners = []
            limited = _first_table_stage(plan.stages)
            for number, planned in enumerate(plan.stages):
                # The sources' iterators pass from thread to thread under the pool's lock; they need none of their own.
                runner = StageRunner(
                    planned.stage,
                    state,
                    on_error=self.on_error,
                    max_attempts=self.max_attempts,
                    serialize=self.threads > 1 and number >= split,
                    row_limit=self.limit if planned is limited else None,
                    progress=state.progress_of(number),
                    finished_sources=state.finished_sources if number < plan.source_makers else (),
                )
                cleanup.callback(runner.teardown)
                runner.setup()
                runners.append(runner)
            sources = _until(state.stop_requested, state.sources(tasks))
            sources = _through(runners[:split], sources)
            order = SourceOrder()  # for outputs of threads that finish in another one
            state.in_order = partial(in_order, place=lambda source: order.place(source) or 0, by_children=False)
            sources = _numbered(_until(state.stop_requested, sources), order)
            if self.threads == 1:
                yield from _through(runners[split:], sources)
            else:
                yield from side_by_side(lambda shared: _through(runners[split:], shared), sources, threads=self.threads)

    @property
    def is_limited(self) -> bool:
        return self.limit is not None


def _through(runners: Sequence[StageRunner], tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
    """Chain the stages: each pulls from the one before."""
    stream = iter(tasks)
    for runner in runners:
        stream = runner.run(stream)
    return stream


def _numbered(sources: Iterable[Task[Any]], order: SourceOrder) -> Iterator[Task[Any]]:
    """Pass sources on, and note the position of each in ``order``."""
    for task in sources:
        order.add(source_id(task.task_id))
        yield task


def _source_stages(stages: Sequence[PlannedStage], *, limited: bool) -> int:
    """Return how many leading stages make the source tasks; these run in one thread.

    Listing files makes work for all threads and so belongs to none of them. Counting rows up to a limit needs one
    stream, so then everything up to the first table counts as source.
    """
    if limited:
        first_table = _first_table_stage(stages)
        return 0 if first_table is None else 1 + list(stages).index(first_table)
    count = 0
    while count < len(stages) and stages[count].input_type is EmptyTask:
        count += 1
    return count


def _first_table_stage(stages: Sequence[PlannedStage]) -> PlannedStage | None:
    for planned in stages:
        if is_table(planned.output_type):
            return planned
    return None


def _until(stop: threading.Event, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
    for task in tasks:
        if stop.is_set():
            return
        yield task
