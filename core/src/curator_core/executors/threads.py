"""Let several threads pull from one iterator, each through its own chain, and yield what comes out of all of them."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["side_by_side"]

T = TypeVar("T")

_DONE = object()
_PATIENCE_S = 0.2


def side_by_side(chain: Callable[[Iterator[T]], Iterator[T]], sources: Iterator[T], *, threads: int) -> Iterator[T]:
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
