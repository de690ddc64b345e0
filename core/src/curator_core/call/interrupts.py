"""Tell errors that a signal raises from those that a stage raises by itself.

A stage may raise anything, ``SystemExit`` and ``KeyboardInterrupt`` included, and that is a failure of the task it was
given. But where stages run in the main thread, the handler of a signal raises in the middle of a stage as well: Ctrl-C,
and SIGTERM under many programs' handlers and in every worker of Ray. That ends the run or the worker.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["expect_no_interrupts", "reraise_interrupt", "watch_interrupts"]


class _Watch:
    """A signal handler that remembers what the previous handler raised."""

    def __init__(self, number: signal.Signals, before: Any) -> None:
        self.number = number
        self.before = before
        self.raised: BaseException | None = None

    def __call__(self, number: int, frame: Any) -> None:
        try:
            self.before(number, frame)
        except BaseException as error:
            self.raised = error
            raise


_active: list[_Watch] = []
_is_worker = False


def expect_no_interrupts() -> None:
    """Declare this process a worker: nobody presses Ctrl-C there, but SIGTERM ends it, by an error that Ray raises."""
    global _is_worker  # noqa: PLW0603 - a fact about the process
    _is_worker = True
    _start_watch(signal.SIGTERM)


@contextmanager
def watch_interrupts() -> Iterator[None]:
    """While this is active, errors that a signal has raised are known to :func:`reraise_interrupt`.

    What the signals do stays the same. Outside of the main thread, which no signal interrupts, nothing is done.
    """
    watches = [_start_watch(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for watch in watches:
            if watch is not None:
                _end_watch(watch)


def _start_watch(number: signal.Signals) -> _Watch | None:
    """Watch a signal, unless this is not the main thread or the signal has no handler that could raise."""
    before = signal.getsignal(number)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        return None
    watch = _Watch(number, before)
    signal.signal(number, watch)
    _active.append(watch)
    return watch


def _end_watch(watch: _Watch) -> None:
    _active.remove(watch)
    for other in _active:
        if other.before is watch:  # of a stream that began later and is still open
            other.before = watch.before
    handler: Any = signal.getsignal(watch.number)
    is_main = threading.current_thread() is threading.main_thread()  # a generator may be closed by another thread
    if is_main and handler is watch:
        signal.signal(watch.number, watch.before)


def reraise_interrupt(error: BaseException) -> None:
    """Raise an error again that a signal has raised, or that a stage has made of one; leave all others to the caller.

    Where nobody watches, or somebody has replaced the handler, any ``KeyboardInterrupt`` of the main thread counts as
    Ctrl-C, unless the process is a worker or ignores the signal, as a background job of a shell script does.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGINT)
    is_known = _is_worker or handler is signal.SIG_IGN or any(handler is watch for watch in _active)
    if isinstance(error, KeyboardInterrupt) and not is_known:
        raise error
    for watch in _active:
        if watch.raised is not None and watch.raised in _chain(error):
            raise watch.raised


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and those it came of."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and not any(each is other for other in seen):
            seen.append(each)
            waiting += [each.__cause__, each.__context__]
    return seen
