"""Ctrl-C and SIGTERM: the first ends the run after the tasks in hand, the second ends it at once."""

from __future__ import annotations

import shlex
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.cli import exit_status
from curator_core.cli.terminal import print_message
from curator_core.values.redaction import MASK, redact

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

__all__ = ["Interruption", "how_to_go_on", "stop_on_signal"]

_AGAIN = {
    signal.SIGINT: "press Ctrl-C again to stop at once",
    signal.SIGTERM: "a second signal stops at once",  # what cluster managers send before they kill
}


@dataclass
class Interruption:
    """Whether a signal asked the run to stop, and which."""

    number: int | None = None

    @property
    def exit_code(self) -> int:
        """What the exit status says about it."""
        return exit_status.TERMINATED if self.number == signal.SIGTERM else exit_status.INTERRUPTED


@contextmanager
def stop_on_signal(stop_requested: threading.Event) -> Iterator[Interruption]:
    """Turn the first signal into a request to stop; a second one raises :class:`KeyboardInterrupt`."""
    interruption = Interruption()

    def on_signal(number: int, frame: Any) -> None:
        interruption.number = number
        if stop_requested.is_set():
            signal.default_int_handler(number, frame)
        stop_requested.set()
        print_message(f"stopping after the tasks in hand; {_AGAIN[signal.Signals(number)]}")

    if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
        yield interruption
        return
    before = {each: signal.signal(each, on_signal) for each in _AGAIN}
    try:
        yield interruption
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def how_to_go_on(args: argparse.Namespace) -> str:
    """Return the command that continues an interrupted run."""
    if args.run_dir is None:
        return "stopped; only a run with --run-dir can be resumed"
    if args.limit is not None:
        return "stopped; a run with --limit cannot be resumed"
    command = shlex.join(["curator", *_with_resume(args.arguments)])
    hint = "" if redact(command) == command else f"\n    with the values that you gave in the place of {MASK}"
    return f"stopped; to resume:\n    {command}{hint}"


def _with_resume(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a run as those that continue it.

    >>> _with_resume(["run", "p.yaml", "--run-dir", "r", "--resume=changed"])
    ['run', 'p.yaml', '--run-dir', 'r', '--resume']
    """
    return [*(each for each in arguments if each not in ("--resume", "--resume=changed")), "--resume"]
