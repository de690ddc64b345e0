"""Every executor goes on with a run that another has begun, tells the ledger of every source and skips those done."""

import json

import pytest

from curator_core import EmptyTask, Pipeline, ProcessingStage, StreamingExecutor, TableBatch, Task
from curator_core.run.ledger.ledger_file import read_ledger
from curator_text import ReadJsonl, WordCount, WriteJsonl


class Numbers(ProcessingStage[EmptyTask, Task]):
    def process(self, task):
        yield from (Task(data=number) for number in range(12))


class Split(ProcessingStage[Task, Task]):
    """Gets tasks of several sources at once; makes none, one or two of each, and cannot stand one of them."""

    batch_size = 2

    def process_batch(self, tasks):
        if any(task.data == 7 for task in tasks):
            raise ValueError("seven")
        return [None if task.data % 3 == 0 else [Task(data=task.data), Task(data=-task.data)] for task in tasks]


def numbers(root, executor=None, **options):
    return Pipeline("p", stages=[Numbers(), Split()]).run(executor, run_dir=root / "run", **options)


def cut_in_half(ledger):
    """Let a run look as if it had been killed half way; return the sources that it had done."""
    facts = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(facts[: len(facts) // 2]))
    return read_ledger(ledger).done


def counted(result):
    names = ("tasks_in", "tasks_out", "rows_in", "rows_out", "quarantined", "dropped", "scores")
    return [[stage["name"], *(stage[name] for name in names)] for stage in result.to_dict()["stages"]]


def check_ledger(ledger, done):
    content = read_ledger(ledger)
    assert content.finished.is_complete
    assert set(content.done) == set(content.begun) > set(done)


def test_a_run_goes_on_on_any_executor(make_executor, tmp_path):
    expected = numbers(tmp_path)
    done = cut_in_half(tmp_path / "run" / "ledger.jsonl")
    result = numbers(tmp_path, make_executor(max_attempts=1), resume=True)
    assert result.resumed_sources == len(done) > 0
    assert [(task.task_id, task.data) for task in result] == [(task.task_id, task.data) for task in expected]
    assert counted(result) == counted(expected)
    assert [record.task_id for record in result.quarantined] == ["7"]
    check_ledger(tmp_path / "run" / "ledger.jsonl", done)
    assert numbers(tmp_path, resume=True).was_finished


class InPairs(ProcessingStage[TableBatch, TableBatch]):
    batch_size = 2

    def process_batch(self, tasks):
        return [
            [task.with_data(task.data.slice(0, 4)), task.with_data(task.data.slice(4))] if task.num_rows > 8 else task
            for task in tasks
        ]


def files(root, executor=None, *, output="out", run_dir="run", **options):
    stages = [
        ReadJsonl(str(root / "in"), block_bytes=300),
        WordCount(min_words=2, save_dropped=True),
        InPairs(),
        WriteJsonl(str(root / output)),
    ]
    return Pipeline("p", stages=stages).run(executor, run_dir=root / run_dir, **options)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def go_on_with_files(root, executor):
    (root / "in").mkdir()
    for number in range(9):
        lines = [json.dumps({"text": "word " * (row % 5)}) for row in range(3 + 4 * (number % 4))]
        (root / "in" / f"{number}.jsonl").write_text("\n".join([*lines, "{torn"] if number == 4 else lines) + "\n")
    expected = files(root, output="reference", run_dir="reference-run")
    files(root)
    done = cut_in_half(root / "run" / "ledger.jsonl")
    for path in (root / "out").iterdir():
        if path.name.split("-")[1].split(".")[0] not in done:
            path.unlink()
    result = files(root, executor, resume=True)
    assert result.resumed_sources == len(done) > 0
    assert tree(root / "out") == tree(root / "reference")
    assert tree(root / "run" / "dropped") == tree(root / "reference-run" / "dropped")
    assert counted(result) == counted(expected)
    assert [task.task_id for task in result] == [task.task_id for task in expected]
    check_ledger(root / "run" / "ledger.jsonl", done)


def test_files_of_a_run_that_goes_on_are_those_of_one_that_never_stopped(ray_session, tmp_path):
    go_on_with_files(tmp_path, StreamingExecutor())


@pytest.mark.chaos
def test_the_same_holds_for_files_on_any_executor(make_executor, tmp_path):
    go_on_with_files(tmp_path, make_executor())
