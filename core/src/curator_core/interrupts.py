"""Tell Ctrl-C from a ``KeyboardInterrupt`` that a stage raises by itself.

A stage may raise anything, ``SystemExit`` and ``KeyboardInterrupt`` included, and that is a failure of the task it was
given. But where stages run in the driver's main thread, a signal raises ``KeyboardInterrupt`` in the middle of a stage
as well, and that ends the run.
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
    """A handler of SIGINT that notes what the handler before it raises."""

    def __init__(self, before: Any) -> None:
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
    """Declare this process a worker: nobody presses Ctrl-C there, and the driver decides when it ends."""
    global _is_worker  # noqa: PLW0603 - a fact about the process
    _is_worker = True


@contextmanager
def watch_interrupts() -> Iterator[None]:
    """While this is active, errors that a signal has raised are known to :func:`reraise_interrupt`.

    What the signal does stays the same. Outside of the main thread, which no signal interrupts, nothing is done.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    watch = _Watch(before)
    signal.signal(signal.SIGINT, watch)
    _active.append(watch)
    try:
        yield
    finally:
        _active.remove(watch)
        is_main = threading.current_thread() is threading.main_thread()  # a generator may be closed by another thread
        if is_main and signal.getsignal(signal.SIGINT) is watch:
            signal.signal(signal.SIGINT, before)


def reraise_interrupt(error: BaseException) -> None:
    """Raise an error again that a signal has raised, or that a stage has made of one; leave all others to the caller.

    Where nobody watches, or somebody has replaced the handler, any ``KeyboardInterrupt`` of the main thread counts as
    Ctrl-C, unless the process ignores the signal, as a background job of a shell script does.
    """
    if _is_worker or threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGINT)
    is_watched = handler is signal.SIG_IGN or (bool(_active) and handler is _active[-1])
    if isinstance(error, KeyboardInterrupt) and not is_watched:
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
