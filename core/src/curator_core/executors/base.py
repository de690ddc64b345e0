"""What an executor is: something that runs a plan and yields its outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from curator_core.call.failure_limit import checked_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from curator_core.authoring.stage import OnError
    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan
    from curator_core.run.state import RunState

__all__ = ["Executor"]


class Executor(ABC):
    """Runs plans. The same pipeline gives the same outputs on every executor, in whatever order they finish.

    One executor may serve several runs at the same time, so it holds options only: what belongs to a run is kept in the
    run's state.

    >>> from curator_core import LocalExecutor
    >>> isinstance(LocalExecutor(threads=2, on_error="raise"), Executor)
    True

    Args:
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        max_attempts: How often a failing call is tried.
        max_failed_fraction: Fraction of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
    """

    def __init__(
        self,
        *,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
    ) -> None:
        self.on_error = on_error
        self.max_attempts = max_attempts
        self.max_failed_fraction = checked_fraction(max_failed_fraction)
        self.quarantine_payload = quarantine_payload

    @abstractmethod
    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        """Feed ``tasks`` to the first stage and yield what the last stage makes, as it is made.

        Pulls ``tasks`` lazily, writes statistics and quarantined records to ``state``, and ends soon after
        ``state.stop_requested`` is set. Closing the iterator stops the run and tears all stages down. An executor that
        calls stages in its own process leaves all of this to ``open_line``. Any other takes its tasks from
        ``state.sources(tasks)``, skips ``state.finished_sources``, tells ``state.ledger`` what becomes of each task and
        sets ``state.in_order`` where outputs finish in another order than their sources.
        """

    @property
    def is_limited(self) -> bool:
        """Whether it processes a part of the input only, so that what it has done cannot be told by source task."""
        return False

    def session(self) -> AbstractContextManager[object]:
        """Return a context in which several runs share what is costly to start: a cluster, say."""
        return nullcontext()
