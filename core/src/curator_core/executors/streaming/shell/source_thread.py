"""Pull the caller's tasks in a thread of their own, so that a slow source does not hold up everything else."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.shell.chunk_codec import approximate_bytes, collection_paused, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator_core.authoring.tasks import Task
    from curator_core.executors.streaming.engine.tuning import Tuning

__all__ = ["SourceChunk", "SourceThread"]


@dataclass(slots=True)
class SourceChunk:
    """Tasks from the source. ``has_ended`` says that there are no more behind them, ``error`` why the source failed."""

    count: int = 0
    size_bytes: int = 0
    handle: Any = None
    source_ids: list[str] | None = None
    has_ended: bool = False
    error: BaseException | None = None


class SourceThread:
    """Answers requests for tasks. ``store`` puts a payload where workers find it, and returns the handle."""

    def __init__(
        self,
        tasks: Iterator[Task[Any]],
        store: Callable[[Any, int], Any],
        events: queue.SimpleQueue[Any],
        tuning: Tuning,
    ) -> None:
        self._tuning = tuning
        self._tasks = tasks
        self._store = store
        self._events = events
        self._requests: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._answer, name="curator-source", daemon=True).start()

    def pull(self, count: int) -> None:
        """Ask for up to so many tasks."""
        self._requests.put(count)

    def close(self) -> None:
        """End the thread. One that waits for a task of a slow source ends when it gets it."""
        self._requests.put(0)

    def _answer(self) -> None:
        while (count := self._requests.get()) > 0:
            try:
                with collection_paused():
                    chunk = self._take(count)
            except BaseException as error:  # noqa: BLE001 - the caller's source may raise anything; raised in the run loop
                self._events.put(SourceChunk(has_ended=True, error=error))
                return
            self._events.put(chunk)
            if chunk.has_ended:
                return

    def _take(self, count: int) -> SourceChunk:
        tasks: list[Task[Any]] = []
        size_bytes = 0
        has_ended = False
        deadline_s = time.monotonic() + self._tuning.source_patience_s
        for task in islice(self._tasks, count):
            tasks.append(task)
            size_bytes += approximate_bytes(task)
            if size_bytes >= self._tuning.source_chunk_bytes or time.monotonic() > deadline_s:
                break
        else:
            has_ended = len(tasks) < count
        if not tasks:
            return SourceChunk(has_ended=True)
        payload, size_bytes = encode(tasks, by_value=True)
        ids = [task.task_id for task in tasks]
        return SourceChunk(len(tasks), size_bytes, self._store(payload, size_bytes), ids, has_ended)
