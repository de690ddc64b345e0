"""Ctrl-C: the first ends the run after the tasks in hand, the second ends it at once."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from curator_core.cli.terminal import message

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["stop_on_interrupt"]


@contextmanager
def stop_on_interrupt(stop_requested: threading.Event) -> Iterator[None]:
    """Turn the first interrupt into a request to stop; a second one raises :class:`KeyboardInterrupt`."""

    def on_interrupt(number: int, frame: Any) -> None:
        if stop_requested.is_set():
            signal.default_int_handler(number, frame)
        stop_requested.set()
        message("stopping after the tasks in hand; press Ctrl-C again to stop at once")

    if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
        yield
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
