"""A preview as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.cli.terminal import paint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.cli.preview_rows import CellChange, DroppedRow, Preview, StagePreview

__all__ = ["excerpt", "preview_lines"]

_CONTEXT_CHARS = 16
"""How much of the unchanged beginning is shown before the first difference."""


def preview_lines(preview: Preview, *, width: int) -> Iterator[str]:
    """Yield the lines of a preview, each at most ``width`` wide (but for very long names)."""
    return (line.replace("\n", "\\n") for line in _lines(preview, width))  # of names; values have none


def _lines(preview: Preview, width: int) -> Iterator[str]:
    yield paint(f"{preview.read_by}: {_rows(len(preview.rows))} read", "bold")
    for number, values in enumerate(preview.rows, start=1):
        yield from _row_lines(number, values, width)
    for problem in preview.problems:
        yield paint(f"  ! {problem}", "red")
    for stage in preview.stages:
        yield ""
        yield from _stage_lines(stage, width)
    yield ""
    yield paint(f"result: {_rows(len(preview.result))} of {len(preview.rows)}", "bold")
    for number, values in preview.result:
        yield from _row_lines(number, values, width)


def _stage_lines(stage: StagePreview, width: int) -> Iterator[str]:
    if stage.note:
        yield f"{paint(stage.stage, 'bold')}: {stage.note}"
        return
    yield f"{paint(stage.stage, 'bold')}: {_headline(stage)}"
    for change in stage.changes:
        yield _change_line(change, stage, width)
    for row in stage.dropped:
        yield _dropped_line(row, width)
    for problem in stage.problems:
        yield paint(f"  ! {problem}", "red")


def _headline(stage: StagePreview) -> str:
    parts = [f"{_rows(stage.rows_in)} in, {stage.rows_out} out"]
    if stage.dropped:
        parts.append(f"{len(stage.dropped)} dropped")
    changed = len({change.row for change in stage.changes if change.column not in stage.added})
    if changed:
        parts.append(f"{changed} changed")
    if stage.added:
        parts.append(f"adds {', '.join(stage.added)}")
    if stage.removed:
        parts.append(f"removes {', '.join(stage.removed)}")
    if len(parts) == 1 and not stage.problems:
        parts.append("nothing changed")
    return ", ".join(parts)


def _row_lines(number: int, values: dict[str, Any], width: int) -> Iterator[str]:
    for position, (column, value) in enumerate(values.items()):
        label = f"{number:>3} " if position == 0 else "    "
        start = f"{label}{column}: "
        yield start + excerpt(value, width - len(start))


def _change_line(change: CellChange, stage: StagePreview, width: int) -> str:
    start = f"{change.row:>3} {'+' if change.column in stage.added else '~'} {change.column}: "
    if change.column in stage.added:
        return paint(start + excerpt(change.after, width - len(start)), "green")
    arrow = " -> "
    room = max(8, (width - len(start) - len(arrow)) // 2)
    skip = _common_start(change.before, change.after)
    return start + excerpt(change.before, room, skip=skip) + arrow + excerpt(change.after, room, skip=skip)


def _dropped_line(row: DroppedRow, width: int) -> str:
    score = (
        "" if row.score is None else f" (score {row.score:g})" if isinstance(row.score, float) else f" ({row.score})"
    )
    start = f"{row.row:>3} - {row.reason}{score}  "
    text = max((value for value in row.values.values() if isinstance(value, str)), key=len, default="")
    shown = excerpt(text, width - len(start)) if text else ""
    return paint((start + shown).rstrip(), "red")


def excerpt(value: Any, width: int, *, skip: int = 0) -> str:
    r"""Return a value on one line of at most ``width`` characters, without its first ``skip`` characters.

    >>> excerpt("one\ntwo three", 12)
    "'one\\ntwo …'"
    """
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if not isinstance(value, str):
        text = repr(value)
        return text if len(text) <= max(width, 1) else f"{text[: max(width - 1, 0)]}…"
    lead = "…" if skip else ""
    text = repr(value[skip : skip + max(width, 1)])
    if len(value) - skip <= width and len(text) + len(lead) <= width:
        return f"{lead}{text}"
    return f"{lead}{text[: max(width - len(lead) - 2, 1)]}…{text[0]}"


def _common_start(before: Any, after: Any) -> int:
    if not (isinstance(before, str) and isinstance(after, str)):
        return 0
    same = next((i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    same = same or (min(len(before), len(after)) if before != after and before[:1] == after[:1] else 0)
    return max(0, same - _CONTEXT_CHARS)


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
