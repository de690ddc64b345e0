"""A retry brings back what failed, once: nothing is lost and nothing comes out twice."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import FileGroupTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.values.errors import ConfigError
from tests.support.retry_work import ONCE, Breakable, OnlySmall, Work, Write


class Split(ProcessingStage[TableBatch, TableBatch]):
    """Makes several tasks of one, and fails half-way while a file is there."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble

    def process(self, task):
        for index in range(task.num_rows):
            if index == 1 and Path(self.trouble).exists():
                raise OSError("no more")
            yield task.with_data(task.data.slice(index, 1))


def test_rows_come_back_once_however_often_they_are_retried(work):
    work.refuse(3, 7, 8)
    work.run()
    assert work.output() == ONCE - Counter({3: 1, 7: 1, 8: 1})
    work.refuse()
    result = work.retry()
    assert (len(result.resolved), result.records, result.is_complete) == (3, [], True)
    assert work.output() == ONCE
    before = work.files()
    again = work.retry()
    assert (again.resolved, again.outputs, again.is_complete) == ([], [], True)
    assert work.files() == before
    assert list(QuarantineFolder(work.run_dir).payloads.iterdir()) == []


def test_what_fails_again_stays_with_more_attempts(work):
    work.refuse(3, 7)
    first = {record.row_id or record.row: record for record in work.run().quarantined}
    work.refuse(7)
    result = work.retry()
    assert not result.is_complete
    (left,) = work.unresolved()
    assert left.record_id in {record.record_id for record in first.values()}
    assert (left.stage, left.attempts, left.payload) == ("refuses", 3, result.records[0].payload)
    work.retry()
    assert [record.attempts for record in work.unresolved()] == [4]
    work.refuse(later=[7])  # now it gets further, and fails there
    work.retry()
    (left,) = work.unresolved()
    assert (left.stage, left.record_id) == ("later", result.records[0].record_id)
    work.refuse()
    work.retry()
    assert work.unresolved() == []
    assert work.output() == ONCE


def test_only_chosen_records_are_retried(work):
    work.refuse(3, 7, later=[9])
    work.run()
    work.refuse()
    result = work.retry(choose=lambda record: record.stage == "later")
    assert len(result.resolved) == 1
    assert work.output() == ONCE - Counter({3: 1, 7: 1})
    assert {record.stage for record in work.unresolved()} == {"refuses"}


def test_a_dry_run_does_nothing(work):
    work.refuse(3)
    work.run()
    work.refuse()
    before = work.files()
    result = work.retry(dry_run=True)
    assert (result.order.count, result.resolved) == (1, [])
    assert (work.files(), len(work.unresolved())) == (before, 1)


def test_a_whole_task_keeps_its_name_and_what_was_made_before_is_replaced(tmp_path):
    trouble = tmp_path / "trouble"
    trouble.touch()
    stages = [Split(str(trouble)), Write(str(tmp_path / "out"))]
    tasks = [TableBatch(data={"n": [n, n + 1, n + 2]}) for n in (0, 3)]
    executor = LocalExecutor(max_attempts=1)
    result = Pipeline("p", stages=stages).run(executor, initial_tasks=tasks, run_dir=tmp_path / "run")
    assert (result.rows_out, [record.rows for record in result.quarantined]) == (2, [3, 3])
    trouble.unlink()
    retry_quarantined(tmp_path / "run", pipeline=Pipeline("p", stages=stages), executor=executor)
    files = {path.name: json.loads(path.read_text())["n"] for path in (tmp_path / "out").iterdir()}
    assert files == {f"part-{task}-{n}.jsonl": task * 3 + n for task in range(2) for n in range(3)}


def test_rows_of_a_whole_task_that_fail_again_take_its_place(work, tmp_path):
    trouble = tmp_path / "trouble"
    trouble.touch()
    tasks = [TableBatch(data={"n": list(range(20))})]
    pipeline = Pipeline("p", stages=[Breakable(str(work.refused), str(trouble)), Write(str(tmp_path / "out"))])
    pipeline.run(LocalExecutor(max_attempts=1), initial_tasks=tasks, run_dir=work.run_dir)
    (whole,) = work.unresolved()
    assert whole.rows == 20
    trouble.unlink()
    work.refuse(4, 9)
    result = retry_quarantined(work.run_dir, pipeline=pipeline, executor=LocalExecutor(max_attempts=1))
    assert result.resolved == [whole.record_id]
    assert work.output() == ONCE - Counter({4: 1, 9: 1})
    assert [record.rows for record in work.unresolved()] == [1, 1]
    work.refuse()
    retry_quarantined(work.run_dir, pipeline=pipeline)
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_tasks_that_are_no_tables_are_retried_too(tmp_path, monkeypatch):
    pipeline = Pipeline("p", stages=[OnlySmall()])
    pipeline.run(initial_tasks=[Task(data={"n": n}) for n in range(6)], run_dir=tmp_path)
    monkeypatch.setattr(OnlySmall, "limit", 4)
    result = retry_quarantined(tmp_path, pipeline=pipeline)
    assert [(task.task_id, task.data) for task in result.outputs] == [("4", {"n": 4})]
    assert [record.payload for record in result.records] == ["{'n': 5}"]


def test_a_retry_must_not_skip(work):
    work.run()
    with pytest.raises(ConfigError, match="would lose them"):
        work.retry(executor=LocalExecutor(on_error="skip"))


def test_a_stage_that_is_gone_is_told(work):
    work.refuse(3)
    work.run()
    other = Pipeline("p", stages=[stage for stage in work.pipeline.stages if stage.name != "refuses"])
    result = retry_quarantined(work.run_dir, pipeline=other)
    assert list(result.order.impossible.values()) == ["the pipeline has no stage 'refuses'"]


@settings(max_examples=12)
@given(data=st.data())
def test_whatever_fails_and_is_mended_in_whatever_order_nothing_is_lost_or_doubled(tmp_path_factory, data):
    work = Work(tmp_path_factory.mktemp("work"))
    some = st.sets(st.integers(0, 19), max_size=8)
    work.refuse(*data.draw(some), later=sorted(data.draw(some)))
    work.run(quarantine_payload=data.draw(st.booleans()))
    for _ in range(data.draw(st.integers(0, 3))):
        work.refuse(*data.draw(some), later=sorted(data.draw(some)))
        ids = data.draw(st.sets(st.sampled_from([each.record_id for each in work.unresolved()] or [""])))
        work.retry(
            choose=lambda record, ids=ids: record.record_id in ids,
            executor=LocalExecutor(max_attempts=1, quarantine_payload=data.draw(st.booleans())),
        )
        rows = work.output() + Counter(dict.fromkeys(_rows(work), 1))
        assert rows == ONCE
    work.refuse()
    work.retry()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def _rows(work):
    """Return the numbers that are in quarantine, found by their place in the files."""
    places = {}
    for path in sorted((work.folder / "in").iterdir()):
        offset = 0
        for line in path.read_text().splitlines():
            places[str(path), offset] = json.loads(line)["n"]
            offset += len(line) + 1
    return [places[record.source, record.row] for record in work.unresolved()]


def test_the_output_of_a_retry_is_a_task_with_files(work):
    work.refuse(3)
    work.run()
    work.refuse()
    (output,) = work.retry().outputs
    assert isinstance(output, FileGroupTask)
    assert output.meta["rows"] == 1
