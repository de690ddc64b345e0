"""What a run shows while it runs: a live table on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from curator_core.cli.terminal import message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rich.console import Group

    from curator_core.run import RunState
    from curator_core.stats import StageStats

__all__ = ["LINE_INTERVAL_S", "progress_line", "show_progress"]

LINE_INTERVAL_S = 30.0
_REFRESHES_PER_S = 4


def show_progress(state: RunState, *, quiet: bool, stream: TextIO | None = None) -> AbstractContextManager[None]:
    """Return a context in which the progress of a run is shown on standard error."""
    if quiet:
        return nullcontext()
    stream = sys.stderr if stream is None else stream
    return _live_table(state, stream) if stream.isatty() else _lines(state)


def progress_line(state: RunState) -> str:
    """Return the state of a run on one line."""
    stages = list(state.stats.values())
    read = next((each.rows_out for each in stages if each.rows_out), 0)
    dropped = sum(sum(each.dropped.values()) for each in stages)
    elapsed_s = time.monotonic() - state.started_s
    rate = read / elapsed_s if elapsed_s > 0 else 0.0
    line = f"{elapsed_s:.0f} s: {read:,} rows read ({rate:,.0f}/s), {dropped:,} dropped"
    busiest = max(stages, key=lambda each: each.process_time_s, default=None)
    if busiest is not None and busiest.process_time_s > 0:
        line += f", busiest stage {busiest.name}"
    return line + (f", {state.quarantined_count:,} in quarantine" if state.quarantined_count else "")


@contextmanager
def _lines(state: RunState) -> Iterator[None]:
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(LINE_INTERVAL_S):
            message(progress_line(state))

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
    from rich.live import Live

    console = Console(file=stream)  # respects NO_COLOR
    with Live(
        get_renderable=lambda: _table(state),
        console=console,
        refresh_per_second=_REFRESHES_PER_S,
        transient=True,  # the summary takes its place
        redirect_stdout=False,
        redirect_stderr=stream is sys.stderr,
    ):
        yield


def _table(state: RunState) -> Group:
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("stage", no_wrap=True)
    for heading in ("rows in", "rows out", "dropped", "rows/s", "time"):
        table.add_column(heading, justify="right")
    stages = list(state.stats.values())
    total_s = sum(each.process_time_s for each in stages)
    for each in stages:
        table.add_row(*_cells(each, total_s))
    return Group(table, Text(progress_line(state), style="dim", no_wrap=True, overflow="ellipsis"))


def _cells(stage: StageStats, total_s: float) -> tuple[str, ...]:
    dropped = sum(stage.dropped.values())
    rows = max(stage.rows_in, stage.rows_out)
    speed = f"{rows / stage.process_time_s:,.0f}" if stage.process_time_s > 0 else ""
    share = f"{stage.process_time_s / total_s:.0%}" if total_s > 0 else ""
    return stage.name, f"{stage.rows_in:,}", f"{stage.rows_out:,}", f"{dropped:,}" if dropped else "", speed, share
