"""What a run shows while it runs: a live table on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from curator_core.cli.progress_table import Pace, bottleneck_name, duration_text, local_table, worker_table
from curator_core.cli.terminal import TerminalWriter, print_message
from curator_core.values.terminal_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rich.console import Group

    from curator_core.run.state import RunState

__all__ = ["LINE_INTERVAL_S", "progress_line", "show_progress"]

LINE_INTERVAL_S = 30.0
_REFRESHES_PER_S = 4


def show_progress(state: RunState, *, quiet: bool, stream: TextIO | None = None) -> AbstractContextManager[None]:
    """Return a context in which the progress of a run is shown on standard error."""
    if quiet:
        return nullcontext()
    stream = sys.stderr if stream is None else stream
    return _live_table(state, stream) if stream.isatty() else _lines(state)


def progress_line(state: RunState, pace: Pace | None = None) -> str:
    """Return the state of a run on one line.

    Args:
        state: The run.
        pace: How fast it has been lately, for the time that is left.
    """
    stages = list(state.stats.values())
    read = next((each.rows_out for each in stages if each.rows_out), 0)
    dropped = sum(each.rows_dropped for each in stages)
    elapsed_s = time.monotonic() - state.started_s
    rate = read / elapsed_s if elapsed_s > 0 else 0.0
    line = f"{elapsed_s:.0f} s: {read:,} rows read ({rate:,.0f}/s), {dropped:,} dropped"
    if state.live:
        slowest = bottleneck_name(state)
        workers = sum(each.workers for each in state.live.values() if each.leads_step)
        line += f", {workers:,} worker{'' if workers == 1 else 's'}" + (f", bottleneck {slowest}" if slowest else "")
    else:
        busiest = max(stages, key=lambda each: each.process_time_s, default=None)
        if busiest is not None and busiest.process_time_s > 0:
            line += f", busiest stage {busiest.name}"
    if state.quarantined_count:
        line += f", {state.quarantined_count:,} in quarantine"
    left_s = pace.eta_s(state.live) if pace is not None and state.live else None
    return line + (f", {duration_text(left_s)} left" if left_s else "")


@contextmanager
def _lines(state: RunState) -> Iterator[None]:
    ended = threading.Event()
    pace = Pace()

    def report() -> None:
        pace.note(list(state.stats.values()), time.monotonic())
        while not ended.wait(LINE_INTERVAL_S):
            pace.note(list(state.stats.values()), time.monotonic())
            print_message(progress_line(state, pace))

    reporter = threading.Thread(target=report, name="curator-progress", daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()


@contextmanager
def _live_table(state: RunState, stream: TextIO) -> Iterator[None]:
    from rich.console import Console
    from rich.file_proxy import FileProxy
    from rich.live import Live

    writer = stream if isinstance(stream, TerminalWriter) else None
    terminal = stream if writer is None else writer.stream  # rich speaks to it, and shows nothing that is not escaped
    console = Console(file=terminal)  # respects NO_COLOR
    pace = Pace()
    with ExitStack() as shown:
        shown.enter_context(
            Live(
                get_renderable=lambda: _table(state, pace),
                console=console,
                refresh_per_second=_REFRESHES_PER_S,
                transient=True,  # the summary takes its place
                redirect_stdout=False,
                redirect_stderr=False,  # would let rich read the escape sequences in messages
            )
        )
        if writer is not None:
            shown.enter_context(writer.through(FileProxy(console, terminal)))
        yield


def _table(state: RunState, pace: Pace) -> Group:
    from rich.console import Group
    from rich.text import Text

    table = worker_table(state, pace) if state.live else local_table(state)
    return Group(table, Text(visible_line(progress_line(state, pace)), style="dim", no_wrap=True, overflow="ellipsis"))
