"""What a run shows while it runs: a live table on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from curator_core.cli.terminal import TerminalWriter, print_message
from curator_core.values.terminal_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from curator_core.run.state import LiveStage, RunState
    from curator_core.values.stats import StageStats

__all__ = ["LINE_INTERVAL_S", "Pace", "duration_text", "progress_line", "show_progress"]

LINE_INTERVAL_S = 30.0
_REFRESHES_PER_S = 4
_WINDOW_S = 10.0
_MINUTE_S = 60
_HOUR_S = 3_600


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
        slowest = _bottleneck_name(state)
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

    table = _worker_table(state, pace) if state.live else _local_table(state)
    return Group(table, Text(visible_line(progress_line(state, pace)), style="dim", no_wrap=True, overflow="ellipsis"))


class Pace:
    """How fast the stages have been lately: tasks and rows per second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, dict[str, tuple[int, int]]]] = deque()

    def note(self, stats: Iterable[StageStats], now: float) -> None:
        """Remember what the stages have done until now."""
        self._seen.append((now, {each.name: (each.tasks_in, max(each.rows_in, each.rows_out)) for each in stats}))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _WINDOW_S:  # noqa: PLR2004 - a rate needs two points
            self._seen.popleft()

    def tasks_per_s(self, stage: str) -> float:
        """Return the tasks that a stage processes per second."""
        return self._rate(stage, 0)

    def rows_per_s(self, stage: str) -> float:
        """Return the rows that a stage processes, or makes, per second."""
        return self._rate(stage, 1)

    def eta_s(self, live: dict[str, LiveStage]) -> float | None:
        """Return the seconds to the end of the run, None while they cannot be told."""
        longest = 0.0
        for name, stage in live.items():
            if not stage.leads_step or stage.remaining == 0:
                continue
            if stage.remaining is None:
                return None
            rate = self.tasks_per_s(name)
            if rate <= 0:
                return None
            longest = max(longest, stage.remaining / rate)
        return longest

    def _rate(self, stage: str, which: int) -> float:
        if not self._seen:
            return 0.0
        (then, before), (now, after) = self._seen[0], self._seen[-1]
        if now <= then or stage not in after:
            return 0.0
        return (after[stage][which] - before.get(stage, (0, 0))[which]) / (now - then)


def _bottleneck_name(state: RunState) -> str | None:
    """Return the stage that sets the pace, as far as an executor with workers says so."""
    return next((name for name, live in state.live.items() if live.is_bottleneck), None)


def _worker_table(state: RunState, pace: Pace) -> Table:
    """Return the table for executors with pools of workers."""
    table = _empty_table("queued", "running", "done", "dropped", "rows/s", "workers", "busy")
    stages = list(state.stats.values())
    pace.note(stages, time.monotonic())
    live = state.live
    for stats in stages:
        stage = live.get(stats.name)
        is_bottleneck = stage is not None and stage.is_bottleneck
        queue = (f"{stage.queued:,}", f"{stage.running:,}") if stage is not None and stage.leads_step else ("", "")
        workers = ("", "") if stage is None else (f"{stage.workers:,}", f"{stage.busy_fraction:.0%}")
        figures = f"{stats.tasks_in:,}", _dropped(stats), f"{pace.rows_per_s(stats.name):,.0f}"
        name = _name(f"{stats.name} (bottleneck)" if is_bottleneck else stats.name)
        table.add_row(name, *queue, *figures, *workers, style="bold yellow" if is_bottleneck else None)
    return table


def _local_table(state: RunState) -> Table:
    """Return the table for executors without workers."""
    table = _empty_table("rows in", "rows out", "dropped", "rows/s", "time")
    stages = list(state.stats.values())
    total_s = sum(each.process_time_s for each in stages)
    for each in stages:
        rows = max(each.rows_in, each.rows_out)
        speed = f"{rows / each.process_time_s:,.0f}" if each.process_time_s > 0 else ""
        share = f"{each.process_time_s / total_s:.0%}" if total_s > 0 else ""
        table.add_row(_name(each.name), f"{each.rows_in:,}", f"{each.rows_out:,}", _dropped(each), speed, share)
    return table


def duration_text(seconds: float) -> str:
    """Return a duration for people.

    >>> duration_text(42), duration_text(125), duration_text(7_380)
    ('42 s', '2 min 05 s', '2 h 03 min')
    """
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02} min"


def _empty_table(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("stage", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _name(name: str) -> Text:
    """Return a name as it is: rich would read markup and escape sequences in it."""
    from rich.text import Text

    return Text(visible_line(name))


def _dropped(stats: StageStats) -> str:
    dropped = stats.rows_dropped
    return f"{dropped:,}" if dropped else ""
