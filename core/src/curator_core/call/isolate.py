"""Find the guilty rows of a failing table by halving it, so that the innocent ones still come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from curator_core.authoring.recording import Recording
from curator_core.authoring.stage_types import is_known, is_table, task_types
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, TableBatch
from curator_core.call.interrupts import reraise_interrupt
from curator_core.call.lineage import check_output
from curator_core.call.out_of_memory import as_one_table
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.authoring.tasks import Task

__all__ = ["Isolated", "can_isolate", "isolate", "isolate_rows"]

Outcome = TypeVar("Outcome")

_PROBES = 16


@dataclass
class Isolated:
    """What a stage made of the parts of a table that it failed on.

    Args:
        tables: Tables of the parts that went through, in row order.
        recording: What the stage reported on them.
        blamed: The parts that cannot be processed, each with its error.
    """

    tables: list[pa.Table] = field(default_factory=list)
    recording: Recording = field(default_factory=Recording)
    blamed: list[tuple[TableBatch, BaseException]] = field(default_factory=list)


def can_isolate(stage: ProcessingStage[Any, Any], task: Task[Any]) -> bool:
    """Return whether it makes sense to give a stage parts of a task: it says so, or may be making tables of tables."""
    if not isinstance(task, TableBatch) or task.num_rows <= 1:
        return False
    if stage.row_wise is not None:
        return stage.row_wise
    made = task_types(stage)[1]
    return not stage.writes_files and (is_table(made) or not is_known(made))


def isolate(
    stage: ProcessingStage[Any, Any],
    task: TableBatch,
    error: BaseException,
    run: Callable[[Recording, Callable[[], Any]], Any],
) -> Isolated:
    """Give a stage ever smaller parts of a table that it failed on.

    A stage that does not say whether it is row-wise shows it: where a part does not come out with a row for each of its
    own, what its rows come to depends on the others, and the whole table is blamed.

    Args:
        stage: The stage.
        task: The table.
        error: What the stage raised on it.
        run: Calls a function while the recording is active.
    """
    found = Isolated()
    is_row_wise = True

    def call(part: TableBatch) -> tuple[TableBatch | None, Recording]:
        nonlocal is_row_wise
        recording = Recording()
        output = run(recording, lambda: as_one_table([stage.process(part)]))
        if output is not None and not isinstance(output, TableBatch):
            is_row_wise = is_row_wise and stage.row_wise is True
            raise StageError(f"row-wise stage {stage.name!r} returned a {type(output).__name__}, not a table batch")
        if output is not None:
            check_output(output, stage=stage.name)
        is_row_wise = is_row_wise and (stage.row_wise is True or _is_row_for_row(part, output))
        return output, recording

    def accept(outcome: tuple[TableBatch | None, Recording]) -> None:
        output, recording = outcome
        found.recording.merge(recording)
        if output is not None and output.num_rows:
            found.tables.append(output.data)

    isolate_rows(task, error, call=call, accept=accept, blame=lambda part, cause: found.blamed.append((part, cause)))
    return found if is_row_wise else Isolated(blamed=[(task, error)])


def _is_row_for_row(part: TableBatch, output: TableBatch | None) -> bool:
    """Return whether a part of a table came out with a row for each of its own."""
    if output is None or output.num_rows != part.num_rows:
        return False
    places = [name for name in (SOURCE_COLUMN, ROW_COLUMN) if name in part.columns and name in output.columns]
    return all(part.data.column(name).to_pylist() == output.data.column(name).to_pylist() for name in places)


def isolate_rows(
    batch: TableBatch,
    error: BaseException,
    *,
    call: Callable[[TableBatch], Outcome],
    accept: Callable[[Outcome], None],
    blame: Callable[[TableBatch, BaseException], None],
) -> None:
    """Process ever smaller parts of a batch that a row-wise function failed on.

    Args:
        batch: The batch; ``call`` has failed on the whole of it.
        error: What that call raised.
        call: Processes a part of the batch, or raises.
        accept: Gets the outcome of each part that went through, in row order.
        blame: Gets each part that cannot be processed: a single row, or the whole batch when a sample of its rows all
            fail, because then the stage is broken rather than the rows.
    """
    if batch.num_rows == 1 or _all_probes_fail(batch, call):
        blame(batch, error)
        return
    _halve(batch, call=call, accept=accept, blame=blame)


def _halve(
    batch: TableBatch,
    *,
    call: Callable[[TableBatch], Outcome],
    accept: Callable[[Outcome], None],
    blame: Callable[[TableBatch, BaseException], None],
) -> None:
    middle = batch.num_rows // 2
    for half in (batch.data.slice(0, middle), batch.data.slice(middle)):
        part = batch.with_data(half)
        try:
            outcome = call(part)
        except BaseException as error:  # noqa: BLE001 - the stage's own errors, of any kind, are what is being isolated
            reraise_interrupt(error)
            if part.num_rows == 1:
                blame(part, error)
            else:
                _halve(part, call=call, accept=accept, blame=blame)
        else:
            accept(outcome)


def _all_probes_fail(batch: TableBatch, call: Callable[[TableBatch], Outcome]) -> bool:
    if batch.num_rows <= _PROBES:
        return False  # halving is as cheap as probing
    step = batch.num_rows // _PROBES
    for index in range(0, step * _PROBES, step):
        try:
            call(batch.with_data(batch.data.slice(index, 1)))
        except BaseException as error:  # noqa: BLE001 - only whether it fails is asked; halving reports the failing rows
            reraise_interrupt(error)
            continue
        return False
    return True
