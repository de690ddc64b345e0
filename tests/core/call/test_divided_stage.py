"""A stage that takes its tables in parts makes the same of them."""

from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Filter, ProcessingStage, TableBatch, Task, Verdict
from curator_core.call.out_of_memory import divided
from curator_core.call.runner import StageRunner
from curator_core.run.worker_state import WorkerState


@dataclass
class AtLeast(Filter):
    min_value: int = 3

    def judge(self, batch):
        return Verdict.between(batch.series("n"), self.min_value, None, below="few", above="many")


class Whole(ProcessingStage[TableBatch, TableBatch]):
    def process(self, task):
        return task


def run(stage, task, parts=1):
    state = WorkerState()
    runner = StageRunner(stage, state)
    outputs = list(runner.divided(parts).run([task]))
    reports = state.take()
    return outputs, replace(reports.stats[stage.name], process_time_s=0), reports.quarantined


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 64))
def test_parts_make_what_the_whole_makes(numbers, parts):
    task = TableBatch(data=pa.table({"n": pa.array(numbers, pa.int64())}), task_id="a")
    whole, in_parts = run(AtLeast(), task), run(AtLeast(), task, parts)
    assert [each.data.to_pylist() for each in in_parts[0]] == [each.data.to_pylist() for each in whole[0]]
    assert [each.task_id for each in in_parts[0]] == [each.task_id for each in whole[0]]
    assert in_parts[1:] == whole[1:]


def test_no_part_is_larger_than_asked_for():
    seen = []

    class Watched(AtLeast):
        def process(self, task):
            seen.append(task.num_rows)
            return super().process(task)

    run(Watched(), TableBatch(data={"n": list(range(10))}, task_id="a"), parts=4)
    assert seen == [3, 3, 3, 1]


@pytest.mark.parametrize("task", [Task(data=1), TableBatch(data={"n": [5]})], ids=["no table", "one row"])
def test_what_has_no_rows_to_divide_is_taken_whole(task):
    assert divided(AtLeast(), 4).process.__name__ == "process_in_parts"
    if isinstance(task, TableBatch):
        assert divided(AtLeast(), 4).process(task).num_rows == 1


def test_a_stage_that_is_not_row_wise_is_never_divided():
    stage = Whole()
    assert divided(stage, 4) is stage


class Singles(AtLeast):
    """Makes a table of every row it keeps."""

    def process(self, task):
        kept = super().process(task)
        return iter([]) if kept is None else (kept.with_data(kept.data.slice(row, 1)) for row in range(kept.num_rows))


def test_several_tables_of_a_part_are_put_together():
    task = TableBatch(data={"n": [5, 1, 6, 4]}, task_id="a")
    (whole,) = run(AtLeast(), task)[0]
    (in_parts,) = run(Singles(), task, parts=2)[0]
    assert in_parts.data.equals(whole.data)
    assert not run(Singles(), TableBatch(data={"n": [1, 1]}, task_id="a"), parts=2)[0]


def test_guilty_rows_are_found_in_stages_that_make_several_tables():
    class Fails(Singles):
        def judge(self, batch):
            if 13 in batch.series("n"):
                raise ValueError("thirteen")
            return super().judge(batch)

    outputs, _, quarantined = run(Fails(), TableBatch(data={"n": [5, 13, 6, 4]}, task_id="a"))
    assert [each.data["n"].to_pylist() for each in outputs] == [[5, 6, 4]]
    assert [record.message for record in quarantined] == ["thirteen"]
