"""Run a plan in this process: for debugging, notebooks, previews, tests, and jobs of a few gigabytes."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.executors.base import Executor
from curator_core.run.line import open_line
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan
    from curator_core.run.state import RunState

__all__ = ["LocalExecutor"]

T = TypeVar("T")

_DONE = object()
_PATIENCE_S = 0.2


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
        max_failed_fraction: Fraction of a stage's rows that may fail before the run is ended with an error; any, where
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
            raise ConfigError(f"LocalExecutor: threads must be at least 1, got {threads}")
        if limit is not None and limit < 0:
            raise ConfigError(f"LocalExecutor: limit must be at least 0, got {limit}")
        super().__init__(
            on_error=on_error,
            max_attempts=max_attempts,
            max_failed_fraction=max_failed_fraction,
            quarantine_payload=quarantine_payload,
        )
        self.threads = threads
        self.limit = limit

    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        with open_line(
            plan,
            tasks,
            state,
            on_error=self.on_error,
            max_attempts=self.max_attempts,
            serialize=self.threads > 1,
            row_limit=self.limit,
        ) as line:
            if self.threads == 1:
                yield from line.run(line.sources)
            else:
                yield from _in_parallel(line.run, line.sources, threads=self.threads)

    @property
    def is_limited(self) -> bool:
        return self.limit is not None


def _in_parallel(chain: Callable[[Iterator[T]], Iterator[T]], sources: Iterator[T], *, threads: int) -> Iterator[T]:
    """Run ``chain(sources)`` in several threads that share the sources; yield outputs as they come.

    The first exception of any thread is raised here. Closing this iterator lets each thread finish what it has in hand,
    then ends it.
    """
    pool = _Pool(chain, sources, threads)
    try:
        yield from pool.outputs()
    finally:
        pool.close()


class _Pool:
    def __init__(self, chain: Callable[[Iterator[Any]], Iterator[Any]], sources: Iterator[Any], threads: int) -> None:
        self._chain = chain
        self._sources = sources
        self._turn = threading.Lock()
        self._finished: queue.Queue[Any] = queue.Queue(maxsize=2 * threads)
        self._failures: list[BaseException] = []
        self._stop_pulling = threading.Event()
        self._abandoned = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name=f"curator-{number}", daemon=True) for number in range(threads)
        ]

    def outputs(self) -> Iterator[Any]:
        for thread in self._threads:
            thread.start()
        running = len(self._threads)
        while running:
            item = self._finished.get()
            if self._failures:
                raise self._failures[0]
            if item is _DONE:
                running -= 1
            else:
                yield item

    def close(self) -> None:
        self._stop_pulling.set()
        self._abandoned.set()
        for thread in self._threads:
            if thread.ident is not None:  # an interruption may come before all have started
                thread.join()

    def _work(self) -> None:
        try:
            for output in self._chain(self._pull()):
                self._hand_over(output)
        except BaseException as error:  # noqa: BLE001 - carried to the consumer's thread and raised there
            self._stop_pulling.set()
            self._failures.append(error)
        finally:
            self._hand_over(_DONE)

    def _pull(self) -> Iterator[Any]:
        while not self._stop_pulling.is_set():
            with self._turn:
                item = next(self._sources, _DONE)
            if item is _DONE:
                return
            yield item

    def _hand_over(self, item: Any) -> None:
        while not self._abandoned.is_set():  # a consumer that went away must not leave this thread waiting for room
            try:
                self._finished.put(item, timeout=_PATIENCE_S)
            except queue.Full:
                continue
            return
