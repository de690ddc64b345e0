"""A retry brings back what failed, once: nothing is lost and nothing comes out twice."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator_core import FileGroupTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.errors import ConfigError
from curator_core.io.stages import ListFiles, ReadTable
from curator_core.io.table_writer import TableWriter
from curator_core.quarantine.folder import QuarantineFolder
from curator_core.quarantine.retry import retry_quarantined


class Refuses(ProcessingStage[TableBatch, TableBatch]):
    """Fails on rows whose number is written in a file, which stands for a bug that gets mended."""

    row_wise = True

    def __init__(self, numbers: str, name: str = "refuses") -> None:
        self.numbers = numbers
        self.name = name

    def process(self, task):
        bad = set(json.loads(Path(self.numbers).read_text()))
        if bad.intersection(task.data["n"].to_pylist()):
            raise ValueError("refused")
        return task


class Split(ProcessingStage[TableBatch, TableBatch]):
    """Makes several tasks of one, and fails half-way while a file is there."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble

    def process(self, task):
        for index in range(task.num_rows):
            if index == 1 and Path(self.trouble).exists():
                raise OSError("no more")
            yield task.with_data(task.data.slice(index, 1))


class Write(TableWriter):
    format = "jsonl"


@pytest.fixture
def work(tmp_path):
    """Four files of five rows each, and a pipeline over them."""
    return Work(tmp_path)


class Work:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_dir = folder / "run"
        self.refused = folder / "refused.json"
        self.later = folder / "later.json"
        (folder / "in").mkdir(parents=True)
        for file in range(4):
            lines = [json.dumps({"n": file * 5 + k}) for k in range(5)]
            (folder / "in" / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
        self.refuse()

    def refuse(self, *numbers, later=()):
        self.refused.write_text(json.dumps(numbers))
        self.later.write_text(json.dumps(later))

    @property
    def pipeline(self):
        return Pipeline(
            "p",
            stages=[
                ListFiles(str(self.folder / "in"), format="jsonl", block_bytes=20),
                ReadTable("jsonl"),
                Refuses(str(self.refused)),
                Refuses(str(self.later), name="later"),
                Write(str(self.folder / "out")),
            ],
        )

    def run(self, **options):
        return self.pipeline.run(LocalExecutor(max_attempts=1, **options), run_dir=self.run_dir)

    def retry(self, **options):
        options.setdefault("executor", LocalExecutor(max_attempts=1))
        return retry_quarantined(self.run_dir, pipeline=self.pipeline, **options)

    def output(self):
        """Return how often each number was written."""
        lines = [line for path in (self.folder / "out").glob("part-*") for line in path.read_text().splitlines()]
        return Counter(json.loads(line)["n"] for line in lines)

    def files(self):
        return {path.name: path.read_bytes() for path in (self.folder / "out").iterdir()}

    def unresolved(self):
        folder = QuarantineFolder(self.run_dir)
        return [record for key, record in folder.records().items() if key not in folder.resolutions()]


ONCE = Counter(dict.fromkeys(range(20), 1))


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
    import os

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
    class Broken(Refuses):
        broken = True

        def process(self, task):
            if self.broken:
                raise RuntimeError("broken")
            return super().process(task)

    tasks = [TableBatch(data={"n": list(range(20))})]
    pipeline = Pipeline("p", stages=[Broken(str(work.refused)), Write(str(tmp_path / "out"))])
    pipeline.run(LocalExecutor(max_attempts=1), initial_tasks=tasks, run_dir=work.run_dir)
    (whole,) = work.unresolved()
    assert whole.rows == 20
    Broken.broken = False
    work.refuse(4, 9)
    result = retry_quarantined(work.run_dir, pipeline=pipeline, executor=LocalExecutor(max_attempts=1))
    assert result.resolved == [whole.record_id]
    assert work.output() == ONCE - Counter({4: 1, 9: 1})
    assert [record.rows for record in work.unresolved()] == [1, 1]
    work.refuse()
    retry_quarantined(work.run_dir, pipeline=pipeline)
    assert (work.output(), work.unresolved()) == (ONCE, [])


class OnlySmall(ProcessingStage[Task, Task]):
    limit = 3

    def process(self, task):
        if task.data["n"] > self.limit:
            raise ValueError("large")
        return task


def test_tasks_that_are_no_tables_are_retried_too(tmp_path, monkeypatch):
    pipeline = Pipeline("p", stages=[OnlySmall()])
    pipeline.run(initial_tasks=[Task(data={"n": n}) for n in range(6)], run_dir=tmp_path)
    monkeypatch.setattr(OnlySmall, "limit", 4)
    result = retry_quarantined(tmp_path, pipeline=pipeline)
    assert [(task.task_id, task.data) for task in result.outputs] == [("4", {"n": 4})]
    assert [record.payload for record in result.records] == ["{'n': 5}"]


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


def test_an_interrupted_retry_can_be_repeated(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()

    class Interrupting(Write):
        def process(self, task):
            super().process(task)
            raise KeyboardInterrupt

    broken = Pipeline("p", stages=[*work.pipeline.stages[:-1], Interrupting(str(work.folder / "out"))])
    with pytest.raises(KeyboardInterrupt):
        retry_quarantined(work.run_dir, pipeline=broken)
    assert len(work.unresolved()) == 2
    assert work.retry().is_complete
    assert work.output() == ONCE


@pytest.mark.parametrize("step", ["reopen", "add", "resolve"])
def test_a_retry_that_is_killed_while_it_settles_is_finished_by_the_next(work, monkeypatch, step):
    class Broken(Refuses):
        broken = True

        def process(self, task):
            if self.broken:
                raise RuntimeError("broken")
            return super().process(task)

    def killed(*_):
        raise KeyboardInterrupt

    tasks = [TableBatch(data={"n": list(range(20))})]
    pipeline = Pipeline("p", stages=[Broken(str(work.refused)), Write(str(work.folder / "out"))])
    pipeline.run(LocalExecutor(max_attempts=1), initial_tasks=tasks, run_dir=work.run_dir)
    Broken.broken = False
    work.refuse(4)
    with monkeypatch.context() as patch:
        patch.setattr(QuarantineFolder, step, killed)
        with pytest.raises(KeyboardInterrupt):
            retry_quarantined(work.run_dir, pipeline=pipeline)
    work.refuse()
    retry_quarantined(work.run_dir, pipeline=pipeline)
    assert (work.output(), work.unresolved()) == (ONCE, [])
    assert not (work.run_dir / "quarantine" / "retry").exists()


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


def test_a_damaged_payload_is_told_and_the_others_are_retried(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    three, _ = work.unresolved()
    (QuarantineFolder(work.run_dir).payloads / three.payload_file).write_bytes(b"ARROW1")
    result = work.retry()
    assert list(result.order.impossible) == [three.record_id]
    assert work.output() == ONCE - Counter({3: 1})


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
