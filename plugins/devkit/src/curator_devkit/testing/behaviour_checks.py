"""Rules for how a stage treats its input. Every function here is a check."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, CuratorError, Filter, TableBatch, Task, is_composite
from curator_devkit.testing.check import CheckSkipped, Violation, require
from curator_devkit.testing.comparison import merged_table, table_difference, task_difference
from curator_devkit.testing.trial import prepared, process, run_stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_devkit.testing.subjects import StageSubject

_FLOAT_TOLERANCE = 1e-5  # results of a model may differ in the last bits with the size of a batch
_THREADS = 2
_ROUNDS = 8


def check_processes_example(subject: StageSubject) -> None:
    """A stage processes its example and returns tasks; without an example, most rules cannot be checked."""
    try:
        outputs = subject.reference.outputs
    except CheckSkipped as lacking:
        if not subject.example_required:
            raise
        fix = f'give examples={{"{subject.label}": Example(stage=..., tasks=[...])}}, or expect this failure'
        raise Violation(str(lacking), fix=fix) from lacking
    for output in outputs:
        require(
            isinstance(output, Task), f"it made {type(output).__name__}", fix="return tasks, lists of them, or None"
        )


def check_declared_outputs_present(subject: StageSubject) -> None:
    """Every table that comes out has the columns that the stage promises when the pipeline is built."""
    columns_in = frozenset(name for table in subject.tables for name in table.columns)
    promised = subject.stage.columns_after(columns_in)
    for table in _output_tables(subject):
        missing = sorted(promised - set(table.columns))
        require(
            not missing, f"the output lacks {missing}", fix="add the columns, or correct outputs() or columns_after()"
        )
        surprising = sorted(set(table.columns) - promised)
        require(not surprising, f"the output has undeclared columns {surprising}", fix="name them in outputs()")


def check_keeps_provenance_columns(subject: StageSubject) -> None:
    """Rows keep their _source and _row columns, by which they are traced back to their file."""
    if not all({SOURCE_COLUMN, ROW_COLUMN} <= set(table.columns) for table in subject.tables):
        raise CheckSkipped("the example has no provenance columns")
    for table in _output_tables(subject):
        lost = sorted({SOURCE_COLUMN, ROW_COLUMN} - set(table.columns))
        require(not lost, f"the output lost {lost}", fix="derive the output with task.with_column or task.with_data")


def check_does_not_mutate_input(subject: StageSubject) -> None:
    """A stage leaves its input as it was, because a failed call is repeated on it."""
    before = pickle.loads(pickle.dumps(subject.tasks))  # noqa: S301 - our own bytes
    run_stage(subject.stage, subject.tasks)
    difference = task_difference(before, subject.tasks)
    require(not difference, f"the input changed: {difference}", fix="change a copy: task.with_data, task.with_column")
    for old, new in zip(before, subject.tasks, strict=True):
        require(
            (old.task_id, old.meta) == (new.task_id, new.meta),
            f"the input's id or meta changed from {old.task_id!r}, {old.meta} to {new.task_id!r}, {new.meta}",
            fix="return a new task with its own meta",
        )


def check_deterministic(subject: StageSubject) -> None:
    """The same input gives the same output."""
    difference = task_difference(subject.reference.outputs, run_stage(subject.stage, subject.tasks).outputs)
    require(
        not difference, f"the second run made {difference}", fix="seed what is random; do not depend on time or order"
    )


def check_batch_equals_singles(subject: StageSubject) -> None:
    """A row-wise stage makes the same of a table as of its rows one by one."""
    if not subject.stage.row_wise:
        raise CheckSkipped("is not row-wise")
    rows = [table.with_data(table.data.slice(row, 1)) for table in subject.tables for row in range(table.num_rows)]
    whole = merged_table(subject.reference.outputs)
    single = merged_table(run_stage(subject.stage, rows).outputs)
    if whole is None or single is None:
        require(whole is None and single is None, "rows come out one way but not the other", fix=_ROW_WISE_FIX)
        return
    difference = table_difference(whole, single, tolerance=_FLOAT_TOLERANCE)
    require(not difference, f"row by row it makes {difference}", fix=_ROW_WISE_FIX)


_ROW_WISE_FIX = "let a row depend on itself only and give columns fixed types, or set row_wise = False"


def check_handles_empty_batch(subject: StageSubject) -> None:
    """A table without rows is processed without an error, and no rows come out."""
    empty = [table.with_data(table.data.slice(0, 0)) for table in subject.tables]
    outputs = run_stage(subject.stage, empty).outputs
    rows = sum(each.num_rows for each in outputs if isinstance(each, TableBatch))
    require(rows == 0, f"{rows} rows came out of an empty table", fix="return None for a table without rows")


def check_handles_null_values(subject: StageSubject) -> None:
    """Null values are processed without an error: one row without a text must not fail its batch."""
    import pyarrow as pa

    nulls = []
    for table in subject.tables:
        changed = table
        for name in subject.read_columns:
            column_type = table.data.schema.field(name).type
            changed = changed.with_column(name, pa.nulls(table.num_rows, column_type))
        nulls.append(changed)
    run_stage(subject.stage, nulls)


def check_missing_column_is_clear_error(subject: StageSubject) -> None:
    """A missing column is an error that names it."""
    column = subject.read_columns[0]
    lacking = [table.with_data(table.data.drop_columns([column])) for table in subject.tables]
    fix = "read columns with batch.series(name) or batch.text(name), which check this"
    try:
        run_stage(subject.stage, lacking)
    except CuratorError as error:
        require(repr(column) in str(error), f"the error does not name {column!r}: {error}", fix=fix)
    except Exception as error:
        raise Violation(f"{column!r} is missing, and it raised {type(error).__name__}: {error}", fix=fix) from error
    else:
        raise Violation(f"{column!r} is missing, and nothing was raised", fix=f"{fix}; or leave it out of inputs()")


def check_setup_teardown_repeatable(subject: StageSubject) -> None:
    """A stage can be torn down and set up again, torn down twice, and torn down without set-up."""
    if is_composite(subject.stage):
        raise CheckSkipped("is a composite")
    with prepared(subject.stage) as worker:
        process(worker, subject.tasks)
        worker.teardown()
        worker.teardown()
        again = run_stage(worker, subject.tasks)
    difference = task_difference(subject.reference.outputs, again.outputs)
    require(not difference, f"after teardown and setup it makes {difference}", fix="reset everything in setup()")
    copy.deepcopy(subject.stage).teardown()


def check_thread_safe_if_declared(subject: StageSubject) -> None:
    """A stage that says it is thread-safe makes the same in several threads at once."""
    if not subject.stage.thread_safe or is_composite(subject.stage):
        raise CheckSkipped("does not say that it is thread-safe")
    expected = subject.reference.outputs
    with prepared(subject.stage) as worker, ThreadPoolExecutor(_THREADS) as pool:
        trials = list(pool.map(lambda _: process(worker, subject.tasks), range(_THREADS * _ROUNDS)))
    for trial in trials:
        difference = task_difference(expected, trial.outputs)
        require(not difference, f"with {_THREADS} threads it makes {difference}", fix="keep no state between calls")


def check_filter_counts_what_it_drops(subject: StageSubject) -> None:
    """A filter accounts for every row: it comes out, or is counted as dropped for a reason."""
    rows_in = sum(table.num_rows for table in _filter_tables(subject))
    trial = subject.reference
    rows_out = sum(table.num_rows for table in trial.outputs)
    dropped = sum(trial.dropped.values()) + trial.bad_records
    require(
        rows_in == rows_out + dropped,
        f"{rows_in} rows went in, {rows_out} came out and {dropped} were counted as dropped",
        fix="let Filter.process drop the rows; define judge only",
    )


def check_filter_can_tag_and_invert(subject: StageSubject) -> None:
    """A filter can tag rows instead of dropping them, and keep exactly what it would drop."""
    tables = _filter_tables(subject)
    stage = subject.stage
    assert isinstance(stage, Filter)
    tagged = merged_table(run_stage(stage.with_(tag=True, invert=False), tables).outputs)
    rows = sum(table.num_rows for table in tables)
    require(
        tagged is not None and tagged.num_rows == rows and set(stage.tag_columns) <= set(tagged.column_names),
        f"with tag=True, not all rows come out with {stage.tag_columns}",
        fix="do not override process, outputs or tag_columns",
    )
    kept, inverted = (
        sum(each.num_rows for each in run_stage(stage.with_(tag=False, invert=invert), tables).outputs)
        for invert in (False, True)
    )
    require(kept + inverted == rows, f"{kept} kept, {inverted} kept when inverted, of {rows}", fix="define judge only")


def _output_tables(subject: StageSubject) -> Sequence[TableBatch]:
    return [each for each in subject.reference.outputs if isinstance(each, TableBatch)]


def _filter_tables(subject: StageSubject) -> list[TableBatch]:
    if not isinstance(subject.stage, Filter):
        raise CheckSkipped("is not a filter")
    if subject.stage.tag:
        raise CheckSkipped("the example tags rows instead of dropping them")
    return subject.tables
