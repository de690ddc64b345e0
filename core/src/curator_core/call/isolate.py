"""Find the guilty rows of a failing table by halving it, so that the innocent ones still come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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

__all__ = ["Isolated", "can_isolate", "isolate"]

_PROBES = 16


@dataclass
class Isolated:
    """The outcome of processing a table in parts, after a stage failed on it.

    Args:
        tables: Tables of the parts that went through, in row order.
        recording: Reports of the stage on these parts.
        blamed: The parts that cannot be processed, each with its error: single rows, or the whole table.
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

    The whole table is blamed if a sample of its rows all fail, because then the stage is broken rather than the rows.
    A stage that does not say whether it is row-wise shows it: where a part does not come out with a row for each of its
    own, what its rows come to depends on the others, and the whole table is blamed too.

    Args:
        stage: The stage.
        task: The table.
        error: The error of the call on the whole table.
        run: Calls a function while the recording is active.
    """
    search = _Search(stage, run)
    if not search.all_probes_fail(task):
        search.halve(task)
        if search.is_row_wise:
            return search.found
    return Isolated(blamed=[(task, error)])


class _Search:
    """The search through one table."""

    def __init__(self, stage: ProcessingStage[Any, Any], run: Callable[[Recording, Callable[[], Any]], Any]) -> None:
        self.found = Isolated()
        self.is_row_wise = True
        self._stage = stage
        self._run = run

    def halve(self, task: TableBatch) -> None:
        """Process both halves of a table, and the halves of those that fail."""
        middle = task.num_rows // 2
        for half in (task.data.slice(0, middle), task.data.slice(middle)):
            part = task.with_data(half)
            try:
                output, recording = self._call(part)
            except BaseException as error:  # noqa: BLE001 - the stage's own errors, of any kind, are what is being isolated
                reraise_interrupt(error)
                if part.num_rows == 1:
                    self.found.blamed.append((part, error))
                else:
                    self.halve(part)
            else:
                self.found.recording.merge(recording)
                if output is not None and output.num_rows:
                    self.found.tables.append(output.data)

    def all_probes_fail(self, task: TableBatch) -> bool:
        """Return whether a sample of single rows fails to the last."""
        if task.num_rows <= _PROBES:
            return False  # halving is as cheap as probing
        step = task.num_rows // _PROBES
        for index in range(0, step * _PROBES, step):
            try:
                self._call(task.with_data(task.data.slice(index, 1)))
            except BaseException as error:  # noqa: BLE001 - only whether it fails is asked; halving reports the failing rows
                reraise_interrupt(error)
                continue
            return False
        return True

    def _call(self, part: TableBatch) -> tuple[TableBatch | None, Recording]:
        recording = Recording()
        stage = self._stage
        output = self._run(recording, lambda: as_one_table([stage.process(part)]))
        if output is not None and not isinstance(output, TableBatch):
            self.is_row_wise = self.is_row_wise and stage.row_wise is True
            raise StageError(f"row-wise stage {stage.name!r} returned a {type(output).__name__}, not a table batch")
        if output is not None:
            check_output(output, stage=stage.name)
        self.is_row_wise = self.is_row_wise and (stage.row_wise is True or _is_row_for_row(part, output))
        return output, recording


def _is_row_for_row(part: TableBatch, output: TableBatch | None) -> bool:
    """Return whether a part of a table came out with a row for each of its own."""
    if output is None or output.num_rows != part.num_rows:
        return False
    places = [name for name in (SOURCE_COLUMN, ROW_COLUMN) if name in part.columns and name in output.columns]
    return all(part.data.column(name).to_pylist() == output.data.column(name).to_pylist() for name in places)
