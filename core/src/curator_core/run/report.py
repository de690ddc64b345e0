"""A run as plain text: one line per stage, reasons below it, quarantine at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.authoring.recording import IGNORED
from curator_core.values.redaction import redact
from curator_core.values.terminal_text import visible_line

if TYPE_CHECKING:
    from curator_core.run.result import RunResult
    from curator_core.values.stats import StageStats

__all__ = ["text_report"]

_SHOWN_RECORDS = 5
_HEADER = ("stage", "rows in", "rows out", "dropped", "time s")


def text_report(result: RunResult) -> str:
    """Return the report of a finished run."""
    rows: list[tuple[str, ...]] = [_HEADER]
    notes: dict[int, list[str]] = {}
    for stage in result.stats.values():
        rows.append(_stage_row(stage))
        notes[len(rows) - 1] = _reasons(stage)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines: list[str] = []
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
        lines.extend(notes.get(number, []))
    return redact("\n".join([*lines, "", *_totals(result)]))


def _stage_row(stage: StageStats) -> tuple[str, ...]:
    dropped = stage.rows_dropped
    return (
        visible_line(stage.name),
        f"{stage.rows_in:,}",
        f"{stage.rows_out:,}",
        f"{dropped:,}" if dropped else "-",
        f"{stage.process_time_s:.2f}",
    )


def _reasons(stage: StageStats) -> list[str]:
    lines = []
    for reason, count in stage.dropped.most_common():
        fraction = count / stage.rows_in if stage.rows_in else 0
        lines.append(f"    {visible_line(reason)}: {count:,} ({fraction:.1%})")
    if stage.quarantined:
        lines.append(f"    quarantined: {stage.quarantined:,}")
    if stage.skipped:
        lines.append(f"    failed and skipped: {stage.skipped:,}")
    lines.extend(
        f"    {visible_line(name)}: " + (f"{amount:,.6g}" if amount % 1 else f"{amount:,.0f}")
        for name, amount in sorted(stage.counters.items())
        if not name.startswith(IGNORED)
    )
    if ignored := {name[len(IGNORED) :]: count for name, count in stage.counters.items() if name.startswith(IGNORED)}:
        most_first = sorted(ignored.items(), key=lambda each: (-each[1], each[0]))
        kinds = ", ".join(f"{visible_line(kind)} {count:,}" for kind, count in most_first)
        lines.append(f"    ignored: {sum(ignored.values()):,} files ({kinds})")
    return lines


def _totals(result: RunResult) -> list[str]:
    rows_in, rows_out = result.rows_in, result.rows_out
    if any(0 < stage.rows_in < stage.rows_out for stage in result.stats.values()):
        # Where rows are cut into several, some of what comes out may be many of few: a fraction would mislead.
        what = f"{rows_out:,} rows made of {rows_in:,}"
    else:
        what = f"{rows_out:,} of {rows_in:,} rows kept" + (f" ({rows_out / rows_in:.1%})" if rows_in else "")
    lines = [f"{what} in {result.wall_s:.1f} s"]
    if result.interrupted:
        lines.append("interrupted before the end: the output is incomplete")
    lines.extend(f"warning: {visible_line(each)}" for each in result.warnings)
    if result.quarantined_count:
        lines.append(f"{result.quarantined_count:,} in quarantine:")
        for record in result.quarantined[:_SHOWN_RECORDS]:
            first_line = record.message.splitlines()[0] if record.message else ""
            what = f"{record.stage}: {record.where}: {record.error_type}: {first_line}"
            lines.append(f"    {visible_line(what)}")
        if result.quarantined_count > _SHOWN_RECORDS:
            where = f" (see {result.run_dir}/quarantine)" if result.run_dir else ""
            lines.append(f"    … and {result.quarantined_count - _SHOWN_RECORDS:,} more{where}")
    return lines
