"""Failing stages: retries, isolation of guilty rows, quarantine, and the three policies."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.authoring.recording import BadRecord, report
from curator_core.values.errors import ConfigError, StageError


class Flaky(ProcessingStage):
    """Fails a number of times on each task before it succeeds."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls: Counter = Counter()

    def process(self, task):
        self.calls[task.data] += 1
        if self.calls[task.data] <= self.failures:
            raise ValueError(f"try {self.calls[task.data]} of {task.data}")
        return task


class Picky(ProcessingStage[TableBatch, TableBatch]):
    """Fails on a batch that holds a bad number."""

    row_wise = True

    def __init__(self, bad=()) -> None:
        self.bad = set(bad)
        self.calls = 0

    def process(self, task):
        self.calls += 1
        numbers = task.data["n"].to_pylist()
        if self.bad.intersection(numbers):
            raise ValueError("bad number")
        report().drop("seen", len(numbers))
        return task


def tasks(*values):
    return [Task(data=value) for value in values]


def test_a_failing_call_is_tried_three_times():
    result = Pipeline("p", stages=[Flaky(2)]).run(initial_tasks=tasks("a"))
    assert [task.data for task in result] == ["a"]
    assert (result.stats["Flaky"].retries, result.stats["Flaky"].failures) == (2, 2)
    assert result.quarantined == []


def test_what_keeps_failing_is_quarantined_with_its_story_and_the_rest_goes_on(tmp_path):
    class OnlyEven(ProcessingStage):
        def process(self, task):
            if task.data % 2:
                raise ValueError(f"{task.data} is odd")
            return task

    result = Pipeline("p", stages=[OnlyEven()]).run(initial_tasks=tasks(0, 1, 2), run_dir=tmp_path)
    assert [task.data for task in result] == [0, 2]
    (record,) = result.quarantined
    assert (record.stage, record.error_type, record.message, record.attempts) == (
        "OnlyEven",
        "ValueError",
        "1 is odd",
        3,
    )
    assert "raise ValueError" in record.traceback
    assert record.payload == "1"
    (line,) = (tmp_path / "quarantine" / "records.jsonl").read_text().splitlines()
    assert json.loads(line) == record.to_dict()


def test_raise_stops_the_run_and_names_the_place():
    pipeline = Pipeline("p", stages=[Flaky(9)])
    with pytest.raises(StageError, match=r"stage 'Flaky' failed on task 0: ValueError: try 3 of a") as caught:
        pipeline.run(LocalExecutor(on_error="raise"), initial_tasks=tasks("a"))
    assert isinstance(caught.value.__cause__, ValueError)


def test_skip_only_counts():
    result = Pipeline("p", stages=[Flaky(9)]).run(LocalExecutor(on_error="skip"), initial_tasks=tasks("a"))
    assert (len(result), result.quarantined, result.stats["Flaky"].skipped) == (0, [], 1)


def test_a_stage_may_have_its_own_policy():
    stage = Flaky(1).with_(max_attempts=1, on_error="raise")
    with pytest.raises(StageError):
        Pipeline("p", stages=[stage]).run(initial_tasks=tasks("a"))


def test_unknown_policies_are_refused():
    with pytest.raises(ConfigError, match="got 'ignore'"):
        Pipeline("p", stages=[Flaky(0)]).run(LocalExecutor(on_error="ignore"), initial_tasks=tasks("a"))


@given(rows=st.integers(1, 60), bad=st.sets(st.integers(0, 59), max_size=5))
def test_only_guilty_rows_are_lost(rows, bad):
    guilty = {n for n in bad if n < rows}
    batch = TableBatch(data={"n": list(range(rows)), "_source": ["f"] * rows, "_row": list(range(rows))})
    result = Pipeline("p", stages=[Picky(bad)]).run(initial_tasks=[batch])
    survivors = [n for task in result for n in task.data["n"].to_pylist()]
    assert survivors == [n for n in range(rows) if n not in guilty]
    if len(guilty) < min(rows, 2):
        assert {record.row for record in result.quarantined} == guilty
    assert sum(record.rows for record in result.quarantined) == len(guilty)
    # What the stage reported is kept once per surviving row, however often it was called.
    assert result.stats["Picky"].dropped["seen"] == len(survivors)


@pytest.mark.parametrize("guilty", [{5}, {0, 2_047}, {3, 4}, {100, 700, 1_300, 1_900}])
def test_finding_the_guilty_costs_a_few_calls_per_row_and_not_one_per_row(guilty):
    stage = Picky(guilty)
    result = Pipeline("p", stages=[stage]).run(initial_tasks=[TableBatch(data={"n": list(range(2_048))})])
    assert sum(task.num_rows for task in result) == 2_048 - len(guilty)
    assert len(result.quarantined) == len(guilty)
    tries, probes, halvings = 3, 16, 2 * 11 * len(guilty)  # 2,048 rows are halved eleven times
    assert stage.calls <= tries + probes + halvings


class Feud(ProcessingStage[TableBatch, TableBatch]):
    """Fails when two numbers are in the same call."""

    row_wise = True

    def __init__(self, *pair: int) -> None:
        self.pair = set(pair)

    def process(self, task):
        if self.pair <= set(task.data["n"].to_pylist()):
            raise ValueError("these two")
        return task


@given(st.integers(0, 99), st.integers(0, 99), st.integers(100, 120))
def test_rows_that_only_fail_together_all_come_out(one, other, rows):
    if one == other:
        return
    batch = TableBatch(data={"n": list(range(rows))})
    result = Pipeline("p", stages=[Feud(one, other)]).run(LocalExecutor(max_attempts=1), initial_tasks=[batch])
    assert [task.data["n"].to_pylist() for task in result] == [list(range(rows))]
    assert result.quarantined == []


@given(st.sets(st.integers(0, 63), max_size=4), st.sampled_from([1, 2, 3]))
def test_a_failing_batch_of_tasks_loses_only_the_guilty_ones_and_few_calls(guilty, max_attempts):
    calls = []

    class Model(ProcessingStage[Task, Task]):
        batch_size = 64

        def process_batch(self, batch):
            calls.append(len(batch))
            if guilty.intersection(task.data for task in batch):
                raise ValueError("bad")
            return batch

    result = Pipeline("p", stages=[Model()]).run(
        LocalExecutor(max_attempts=max_attempts), initial_tasks=tasks(*range(64))
    )
    assert [task.data for task in result] == [n for n in range(64) if n not in guilty]
    assert {record.task_id for record in result.quarantined} == {str(n) for n in guilty}
    assert len(calls) <= max_attempts + (2 * 6 + max_attempts) * len(guilty)  # 64 tasks are halved six times


def test_a_batch_that_fails_on_two_tasks_together_loses_neither():
    class Model(ProcessingStage[Task, Task]):
        batch_size = 8

        def process_batch(self, batch):
            if {2, 3} <= {task.data for task in batch}:
                raise ValueError("these two")
            return batch

    result = Pipeline("p", stages=[Model()]).run(LocalExecutor(max_attempts=1), initial_tasks=tasks(*range(8)))
    assert [task.data for task in result] == list(range(8))
    assert result.quarantined == []


def test_rows_are_isolated_in_the_tables_of_a_batch_of_tasks():
    class Scores(Picky):
        batch_size = 4

        def process_batch(self, batch):
            if any(self.bad.intersection(task.data["n"].to_pylist()) for task in batch):
                raise ValueError("bad number")
            return batch

        def process(self, task):
            (result,) = self.process_batch([task])
            return result

    batches = [TableBatch(data={"n": [10 * k, 10 * k + 1]}) for k in range(4)]
    result = Pipeline("p", stages=[Scores({11, 20})]).run(LocalExecutor(max_attempts=1), initial_tasks=batches)
    assert [task.data["n"].to_pylist() for task in result] == [[0, 1], [10], [21], [30, 31]]
    assert [(record.task_id, record.rows, record.is_part) for record in result.quarantined] == [
        ("1", 1, True),
        ("2", 1, True),
    ]


def test_a_stage_that_fails_on_every_row_is_not_called_once_per_row():
    stage = Picky(range(10_000))
    result = Pipeline("p", stages=[stage]).run(initial_tasks=[TableBatch(data={"n": list(range(10_000))})])
    assert stage.calls < 50
    (record,) = result.quarantined
    assert record.rows == 10_000


def test_a_failing_batch_of_tasks_is_taken_apart():
    class Sum(ProcessingStage):
        batch_size = 4
        calls: list = []

        def process_batch(self, batch):
            self.calls.append(len(batch))
            if any(task.data == 3 for task in batch):
                raise ValueError("three")
            return batch

    result = Pipeline("p", stages=[Sum()]).run(LocalExecutor(max_attempts=1), initial_tasks=tasks(*range(6)))
    assert [task.data for task in result] == [0, 1, 2, 4, 5]
    assert [record.task_id for record in result.quarantined] == ["3"]
    assert Sum.calls == [4, 2, 2, 1, 1, 2]


def test_a_batch_result_that_cannot_be_matched_to_its_tasks_is_refused():
    class Merge(ProcessingStage):
        batch_size = 2

        def process_batch(self, batch):
            return [batch[0]] * (3 if len(batch) == 2 else len(batch))

    pipeline = Pipeline("p", stages=[Merge()])
    result = pipeline.run(initial_tasks=tasks(1, 2))
    assert len(result) == 2  # alone, each task's result is unambiguous


def test_a_generator_that_fails_half_way_goes_on_where_it_was():
    class Count(ProcessingStage):
        tries = 0

        def process(self, task):
            type(self).tries += 1
            for n in range(4):
                if n == 2 and self.tries == 1:
                    raise OSError("hiccup")
                report().drop("counted")
                yield Task(data=n)

    result = Pipeline("p", stages=[Count()]).run(initial_tasks=tasks("x"))
    assert [task.data for task in result] == [0, 1, 2, 3]
    assert [task.task_id for task in result] == ["0/0", "0/1", "0/2", "0/3"]
    assert result.stats["Count"].dropped["counted"] == 4


def test_bad_records_are_quarantined_while_the_task_goes_on():
    class Reader(ProcessingStage):
        def process(self, task):
            report().bad_record(BadRecord("not JSON", source="f.jsonl", row=12, payload=b"\xff{"))
            return task

    result = Pipeline("p", stages=[Reader()]).run(initial_tasks=tasks(1))
    assert len(result) == 1
    (record,) = result.quarantined
    assert (record.where, record.message) == ("f.jsonl:12", "not JSON")
    assert result.stats["Reader"].quarantined == 1
    with pytest.raises(StageError, match=r"f\.jsonl:12: DataError: not JSON"):
        Pipeline("p", stages=[Reader()]).run(LocalExecutor(on_error="raise"), initial_tasks=tasks(1))


def test_a_stage_that_returns_something_else_is_told_what_to_return():
    class Wrong(ProcessingStage):
        def process(self, task):
            return task.data

    result = Pipeline("p", stages=[Wrong()]).run(initial_tasks=tasks(1))
    assert "returned a int" in result.quarantined[0].message


def test_a_setup_that_fails_ends_the_run_before_any_task():
    class NoModel(ProcessingStage):
        def setup(self, worker):
            raise FileNotFoundError("weights.bin")

        def process(self, task):
            return task

    with pytest.raises(StageError, match=r"'NoModel' could not be set up: FileNotFoundError: weights\.bin"):
        Pipeline("p", stages=[NoModel()]).run(initial_tasks=tasks(1))


def test_resume_without_a_run_directory_is_refused():
    with pytest.raises(ConfigError, match="continued from its run directory"):
        Pipeline("p", stages=[Flaky(0)]).run(initial_tasks=tasks(1), resume=True)
