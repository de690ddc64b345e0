"""Run a few rows through a plan, stage by stage, and note what each stage did to every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.authoring.recording import Recording
from curator_core.authoring.stage_types import is_known, is_table
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, TableBatch
from curator_core.call.runner import StageRunner
from curator_core.executors.local import LocalExecutor
from curator_core.plan.plan import Plan
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState
from curator_core.values.errors import PipelineError
from curator_core.values.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.authoring.tasks import Task

__all__ = ["CellChange", "DroppedRow", "Preview", "StagePreview", "preview_plan"]

Key = tuple[Any, Any, int]
"""Identity of a row: its file, its place there, and a count for rows that were made several of."""


@dataclass(frozen=True)
class CellChange:
    """A value that a stage changed, added or removed."""

    row: int
    column: str
    before: Any
    after: Any


@dataclass(frozen=True)
class DroppedRow:
    """A row that did not come out of a stage."""

    row: int
    reason: str
    score: Any
    values: dict[str, Any]


@dataclass(frozen=True)
class StagePreview:
    """What one stage did to the rows, their columns and their cells."""

    stage: str
    rows_in: int = 0
    rows_out: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changes: tuple[CellChange, ...] = ()  # in rows that came through
    dropped: tuple[DroppedRow, ...] = ()
    problems: tuple[str, ...] = ()  # records it refused, or the exception that ended the preview
    note: str = ""  # why it was not run, where it was not


@dataclass
class Preview:
    """The rows that were read, and what each stage did to them."""

    read_by: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stages: list[StagePreview] = field(default_factory=list)
    result: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def preview_plan(plan: Plan, *, rows: int) -> Preview:
    """Read some rows and take them through the plan, up to the first stage that writes.

    Raises:
        PipelineError: No stage of the plan makes tables.
    """
    first = next((position for position, each in enumerate(plan.stages) if is_table(each.output_type)), None)
    if first is None:
        raise PipelineError(
            f"pipeline {plan.pipeline_name!r} has no stage that makes table rows, so there is nothing to preview",
            fix="begin the pipeline with a reader",
        )
    state = RunState()
    reading = Plan(plan.pipeline, plan.stages[: first + 1])
    batches = _with_identity(stream_plan(reading, LocalExecutor(limit=rows), state=state))
    read = _rows(batches)
    numbers = {key: number for number, key in enumerate(read, start=1)}
    preview = Preview(plan.stages[first].stage.name, list(read.values()))
    preview.problems = [f"{record.where}: {record.message}" for record in state.quarantined]
    for position, planned in enumerate(plan.stages[first + 1 :], start=first + 1):
        if is_known(planned.output_type) and not is_table(planned.output_type):
            later = [each.stage.name for each in plan.stages[position:]]
            preview.stages.extend(StagePreview(name, note="not run in a preview") for name in later)
            break
        if planned.stage.writes_files:
            preview.stages.append(StagePreview(planned.stage.name, note="not run in a preview"))
            continue
        step, batches = _run_stage(planned.stage, batches, numbers)
        preview.stages.append(step)
        if not batches:
            break
    preview.result = [(numbers.get(key, 0), values) for key, values in _rows(batches).items()]
    return preview


def _run_stage(
    stage: ProcessingStage[Any, Any], batches: list[TableBatch], numbers: dict[Key, int]
) -> tuple[StagePreview, list[TableBatch]]:
    if "save_dropped" in stage.options:
        stage = stage.with_(save_dropped=True)
    recording = Recording()
    outputs: list[TableBatch] = []
    problems: list[str] = []
    runner = StageRunner(stage, RunState())
    try:
        runner.setup()
        with recording.active():
            for batch in batches:
                outputs.extend(_process(stage, batch))
    except Exception as error:  # noqa: BLE001 - a stage may raise anything; the preview shows it
        problems.append(f"{type(error).__name__}: {error}")
    finally:
        runner.teardown()
    problems += [bad.message for bad in recording.bad_records]
    dropped = [TableBatch(data=table) for table in recording.dropped_rows]
    reasons = {key: (row["_reason"], row["_score"]) for key, row in _rows(dropped).items()}
    return _compare(stage.name, batches, outputs, reasons, numbers, tuple(map(redact, problems))), outputs


def _process(stage: ProcessingStage[Any, Any], batch: TableBatch) -> list[TableBatch]:
    result = stage.process(batch)
    if result is None:
        return []
    several = result if isinstance(result, (Sequence, Iterator)) else [result]
    return [each for each in several if isinstance(each, TableBatch)]


def _compare(
    name: str,
    before: list[TableBatch],
    after: list[TableBatch],
    reasons: dict[Key, tuple[str, Any]],
    numbers: dict[Key, int],
    problems: tuple[str, ...],
) -> StagePreview:
    old, new = _rows(before), _rows(after)
    columns_before, columns_after = _columns(before), _columns(after or before)
    changes = [
        CellChange(numbers.get(key, 0), column, old[key].get(column), values.get(column))
        for key, values in new.items()
        if key in old
        for column in columns_after
        if old[key].get(column) != values.get(column) or column not in columns_before
    ]
    dropped = [
        DroppedRow(numbers.get(key, 0), *reasons.get(key, ("removed", None)), values)
        for key, values in old.items()
        if key not in new
    ]
    return StagePreview(
        name,
        rows_in=len(old),
        rows_out=len(new),
        added=tuple(each for each in columns_after if each not in columns_before),
        removed=tuple(each for each in columns_before if each not in columns_after),
        changes=tuple(changes),
        dropped=tuple(dropped),
        problems=problems,
    )


def _with_identity(tasks: Iterable[Task[Any]]) -> list[TableBatch]:
    """Return the tables; rows of readers that note no provenance get a number, so that they can be followed."""
    batches: list[TableBatch] = []
    count = 0
    for task in tasks:
        if isinstance(task, TableBatch) and ROW_COLUMN in task.columns:
            batches.append(task)
        elif isinstance(task, TableBatch):
            batches.append(task.with_column(ROW_COLUMN, list(range(count, count + task.num_rows))))
            count += task.num_rows
    return batches


def _rows(batches: list[TableBatch]) -> dict[Key, dict[str, Any]]:
    """Return the rows by their identity, without the columns that are their identity."""
    seen: Counter[tuple[Any, Any]] = Counter()
    rows: dict[Key, dict[str, Any]] = {}
    for batch in batches:
        for row in batch.data.to_pylist():
            source = row.pop(SOURCE_COLUMN, None), row.pop(ROW_COLUMN, None)
            key = (*source, seen[source])
            rows[key] = row
            seen[source] += 1
    return rows


def _columns(batches: list[TableBatch]) -> list[str]:
    names = dict.fromkeys(column for batch in batches for column in batch.columns)
    return [name for name in names if name not in (SOURCE_COLUMN, ROW_COLUMN)]
