"""One bad row costs no other row, whatever the author of the stage has declared; where it must, all are named."""

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, processing_stage


def batch(rows=100, files=2):
    each = rows // files
    sources = [f"{number // each}.jsonl" for number in range(rows)]
    return TableBatch(data={"n": list(range(rows)), "_source": sources, "_row": [n % each for n in range(rows)]})


def numbers(result):
    return [n for task in result for n in task.data["n"].to_pylist()]


class Doubled(ProcessingStage[TableBatch, TableBatch]):
    """Adds a column, row by row, and says nothing about it."""

    def process(self, task):
        values = task.data["n"].to_pylist()
        if 57 in values:
            raise ValueError("fifty-seven")
        return task.with_column("twice", [2 * value for value in values])


@processing_stage(name="plain")
def plain(task):
    if 57 in task.data["n"].to_pylist():
        raise ValueError("fifty-seven")
    return task


@pytest.mark.parametrize("stage", [Doubled(), plain])
def test_only_the_bad_row_of_a_stage_without_flags_is_lost(stage):
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch()])
    assert numbers(result) == [n for n in range(100) if n != 57]
    (record,) = result.quarantined
    assert (record.source, record.row, record.rows, record.where) == ("1.jsonl", 7, 1, "1.jsonl:7")


class Shares(ProcessingStage[TableBatch, TableBatch]):
    """Rows depend on each other, which it says."""

    row_wise = False

    def process(self, task):
        values = task.data["n"].to_pylist()
        if 57 in values:
            raise ValueError("fifty-seven")
        return task.with_column("share", [value / sum(values) for value in values])


class Unique(ProcessingStage[TableBatch, TableBatch]):
    """Leaves rows out by what the other rows are, which can be seen."""

    def process(self, task):
        values = task.data["n"].to_pylist()
        if 57 in values:
            raise ValueError("fifty-seven")
        return task.with_data(task.data.slice(0, len(values) // 2))


class Several(ProcessingStage[TableBatch, TableBatch]):
    def process(self, task):
        if 57 in task.data["n"].to_pylist():
            raise ValueError("fifty-seven")
        return [task, task]


@pytest.mark.parametrize("stage", [Shares(), Unique(), Several()])
def test_where_rows_cannot_be_told_apart_all_that_are_lost_are_named(stage, tmp_path):
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch()], run_dir=tmp_path)
    assert numbers(result) == []
    (record,) = result.quarantined
    assert record.rows == 100
    assert record.error_type == "ValueError"
    assert record.places == (("0.jsonl", 0, 49, 50), ("1.jsonl", 0, 49, 50))
    assert record.where == "100 rows (0.jsonl:0 to 49, 1.jsonl:0 to 49)"
    assert record.where in result.report()


class WritesAside(ProcessingStage[TableBatch, TableBatch]):
    """Writes a file for each task: parts of it would replace each other's."""

    writes_files = True
    calls = 0

    def process(self, task):
        type(self).calls += 1
        raise ValueError("never")


def test_a_stage_that_writes_files_gets_no_parts():
    result = Pipeline(stages=[WritesAside()]).run(LocalExecutor(max_attempts=2), initial_tasks=[batch()])
    assert (WritesAside.calls, len(result.quarantined)) == (2, 1)
