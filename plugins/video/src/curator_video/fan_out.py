"""Turn each row into the rows of its clips."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from curator_video.clip import CLIP_COLUMNS, END_COLUMN, ID_COLUMN, START_COLUMN, clip_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.sdk import TableBatch
    from curator_video.spans import Span

    BatchT = TypeVar("BatchT", bound=TableBatch)

__all__ = ["SPLIT_COLUMNS", "TASK_S", "fan_out", "in_tasks"]

TASK_S = 60.0
"""Seconds of clips in a task, unless given: a long video is then work for several workers."""

SPLIT_COLUMNS: Mapping[str, pa.DataType] = {**CLIP_COLUMNS, "duration_s": pa.float64(), "num_frames": pa.int64()}
"""The columns that a split sets for each clip."""


def fan_out(batch: BatchT, spans: Sequence[Sequence[Span] | None], uri_column: str) -> BatchT:
    """Return one row per span, with the columns of the row it came from.

    Args:
        batch: The rows.
        spans: The spans of each row; None for a row that names no file, which stays as it is, with nulls.
        uri_column: Column with the paths.
    """
    rows: list[int] = []
    cut: list[Span | None] = []
    for row, each in enumerate(spans):
        parts: Sequence[Span | None] = [None] if each is None else each
        rows += [row] * len(parts)
        cut += parts
    out = batch.with_data(batch.data.take(pa.array(rows, pa.int64())))
    values = {
        START_COLUMN: [None if span is None else span.start_s for span in cut],
        END_COLUMN: [None if span is None else span.end_s for span in cut],
        "duration_s": [None if span is None else span.end_s - span.start_s for span in cut],
        "num_frames": [None if span is None else span.num_frames for span in cut],
        ID_COLUMN: [
            None if span is None else clip_id(uri, span.start_s, span.end_s)
            for span, uri in zip(cut, out.text(uri_column).to_list(), strict=True)
        ],
    }
    for name, kind in SPLIT_COLUMNS.items():
        out = out.with_column(name, pa.array(values[name], kind))
    return out


def in_tasks(clips: BatchT, task_s: float) -> BatchT | list[BatchT]:
    """Return clips as one batch or several, in order, each of about the given total seconds."""
    bounds = [0]
    seconds = 0.0
    for row, duration_s in enumerate(clips.data.column("duration_s").to_pylist(), start=1):
        seconds += duration_s or 0.0
        if seconds >= task_s:
            bounds.append(row)
            seconds = 0.0
    if bounds[-1] < clips.num_rows:
        bounds.append(clips.num_rows)
    if len(bounds) <= 2:  # noqa: PLR2004 - begin and end
        return clips
    return [clips.with_data(clips.data.slice(first, end - first)) for first, end in pairwise(bounds)]
