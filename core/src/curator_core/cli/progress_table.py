"""The table that a run shows on a terminal, and the figures in it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from curator_core.values.terminal_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table
    from rich.text import Text

    from curator_core.run.state import LiveStage, RunState
    from curator_core.values.stats import StageStats

__all__ = ["Pace", "bottleneck_name", "duration_text", "local_table", "worker_table"]

_WINDOW_S = 10.0
_MINUTE_S = 60
_HOUR_S = 3_600


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


def bottleneck_name(state: RunState) -> str | None:
    """Return the stage that sets the pace, as far as an executor with workers says so."""
    return next((name for name, live in state.live.items() if live.is_bottleneck), None)


def worker_table(state: RunState, pace: Pace) -> Table:
    """Return the table for executors with pools of workers."""
    table = _empty_table("queued", "running", "done", "dropped", "rows/s", "workers", "busy")
    pace.note(state.stats.values(), time.monotonic())
    live = state.live
    for stats in list(state.stats.values()):
        stage = live.get(stats.name)
        name = f"{stats.name} (bottleneck)" if stage is not None and stage.is_bottleneck else stats.name
        figures = ["", "", f"{stats.tasks_in:,}", _dropped(stats), f"{pace.rows_per_s(stats.name):,.0f}"]
        if stage is None:
            table.add_row(_name(name), *figures, "", "")
            continue
        if stage.leads_step:
            figures[:2] = f"{stage.queued:,}", f"{stage.running:,}"
        workers = (f"{stage.workers:,}", f"{stage.busy_fraction:.0%}")
        table.add_row(_name(name), *figures, *workers, style="bold yellow" if stage.is_bottleneck else None)
    return table


def local_table(state: RunState) -> Table:
    """Return the table for executors without workers."""
    table = _empty_table("rows in", "rows out", "dropped", "rows/s", "time")
    stages = list(state.stats.values())
    total_s = sum(each.process_time_s for each in stages)
    for each in stages:
        rows = max(each.rows_in, each.rows_out)
        speed = f"{rows / each.process_time_s:,.0f}" if each.process_time_s > 0 else ""
        time_spent = f"{each.process_time_s / total_s:.0%}" if total_s > 0 else ""
        table.add_row(_name(each.name), f"{each.rows_in:,}", f"{each.rows_out:,}", _dropped(each), speed, time_spent)
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
    dropped = sum(stats.dropped.values())
    return f"{dropped:,}" if dropped else ""
