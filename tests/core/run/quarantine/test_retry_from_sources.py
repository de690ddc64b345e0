"""Where nothing was kept of what failed, its source is processed again: nothing is lost and nothing comes out twice."""

import os
from collections import Counter
from pathlib import Path

from curator_core import LocalExecutor, Pipeline, Task
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.quarantine.folder import QuarantineFolder
from tests.support.retry_work import ONCE, OnlySmall, Work


def test_without_kept_rows_the_source_is_processed_again_whole(work):
    whole = Work(work.folder / "untroubled")
    whole.run()
    work.refuse(3, 7, later=[8])
    work.run(quarantine_payload=False)
    work.refuse()
    result = work.retry(choose=lambda record: record.stage == "later")
    assert len(result.resolved) == 2, "7 has the same source as 8"
    assert work.output() == ONCE - Counter({3: 1})
    work.retry()
    assert work.output() == ONCE
    assert sorted(map(len, work.files().values())) == sorted(map(len, whole.files().values()))
    assert not any("-q" in name for name in work.files()), "named as if nothing had happened"


def test_a_refused_line_is_read_again_from_its_source(work):
    torn = work.folder / "in" / "2.jsonl"
    text = torn.read_text()
    torn.write_text(text.replace('{"n": 12}', '{"n": 12 '))
    (record,) = work.run().quarantined
    assert (record.error_type, record.payload_file) == ("InvalidJson", None)
    assert work.retry().is_complete is False
    assert [each.attempts for each in work.unresolved()] == [2]
    stamp = torn.stat()
    torn.write_text(text)
    os.utime(torn, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert work.retry().is_complete
    assert work.output() == ONCE


def test_a_source_that_changed_is_told(work):
    work.refuse(3)
    work.run(quarantine_payload=False)
    work.refuse()
    (work.folder / "in" / "0.jsonl").write_text('{"n": 3, "more": true}\n')
    result = work.retry()
    (reason,) = result.order.impossible.values()
    assert "the input has changed" in reason
    assert (result.is_complete, len(work.unresolved())) == (False, 1)


def test_rows_that_came_out_alone_are_not_doubled_when_their_source_is_processed_again(work):
    work.refuse(0, 1)
    work.run()
    folder = QuarantineFolder(work.run_dir)
    three, four = work.unresolved()
    work.refuse()
    work.retry(choose=lambda record: record.record_id == three.record_id)
    (alone,) = folder.resolutions()[three.record_id].outputs
    assert Path(alone).exists()
    folder.add([four.from_dict(four.to_dict() | {"payload_file": None})])  # as if it had been too large to keep
    work.retry()
    assert work.output() == ONCE
    assert not Path(alone).exists()


def test_rows_that_came_out_alone_stay_when_their_source_fails_on_them_again(work):
    work.refuse(0, 1)
    work.run()
    three, four = work.unresolved()
    work.refuse(1)
    work.retry(choose=lambda record: record.record_id == three.record_id)
    folder = QuarantineFolder(work.run_dir)
    folder.add([four.from_dict(four.to_dict() | {"payload_file": None})])
    work.refuse(0)
    work.retry()
    assert work.output() == ONCE
    assert work.unresolved() == []


def test_a_row_that_fails_elsewhere_and_then_where_it_did_at_first_is_not_lost(work):
    work.refuse(0)
    work.run(quarantine_payload=False)
    work.refuse(later=[0])
    work.retry(executor=LocalExecutor(max_attempts=1, quarantine_payload=False))
    work.refuse(0)
    work.retry(executor=LocalExecutor(max_attempts=1, quarantine_payload=False))
    assert [record.stage for record in work.unresolved()] == ["refuses"]
    work.refuse()
    work.retry()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_tasks_that_cannot_be_kept_are_found_among_the_initial_tasks(tmp_path, monkeypatch):
    class Plain(OnlySmall):
        def process(self, task):
            return super().process(task.with_data({"n": task.data[0]}))

    pipeline = Pipeline("p", stages=[Plain()])
    tasks = [Task(data=(n,)) for n in range(6)]
    pipeline.run(initial_tasks=tasks, run_dir=tmp_path)
    monkeypatch.setattr(OnlySmall, "limit", 9)
    result = retry_quarantined(tmp_path, pipeline=pipeline)
    assert len(result.order.impossible) == 2
    result = retry_quarantined(tmp_path, pipeline=pipeline, initial_tasks=tasks)
    assert sorted(task.task_id for task in result.outputs) == ["4", "5"]
    assert result.is_complete
