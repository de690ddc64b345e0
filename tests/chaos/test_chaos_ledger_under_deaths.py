"""Workers die in the middle of calls, some after a part of the output was passed on: the ledger stays right."""

import os
import signal
from pathlib import Path

import pytest

from curator_core import EmptyTask, Pipeline, ProcessingStage, StreamingExecutor, Task
from curator_core.run.ledger.ledger_file import read_ledger

pytestmark = pytest.mark.chaos
SOURCES = 60
PARTS = 6
POISON = 13


class Numbers(ProcessingStage[EmptyTask, Task]):
    def process(self, task):
        yield from (Task(data=number) for number in range(SOURCES))


class Deadly(ProcessingStage[Task, Task]):
    """Makes large parts of a number; dies once in the middle of every fifth, and always on one."""

    fuse = False

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, task):
        for part in range(PARTS):
            if part == 3 and (task.data == POISON or self.is_first_time(task.data)):
                os.kill(os.getpid(), signal.SIGKILL)
            yield Task(data=(task.data, part, bytes(1 << 20)))

    def is_first_time(self, number):
        marker = Path(self.folder) / str(number)
        if number % 5 or marker.exists():
            return False
        marker.touch()
        return True


class Sum(ProcessingStage[Task, Task]):
    fuse = False

    def process(self, task):
        number, part, _ = task.data
        return Task(data=number * 10 + part)


def run(root, **options):
    (root / "markers").mkdir(exist_ok=True)
    stages = [Numbers(), Deadly(str(root / "markers")), Sum()]
    return Pipeline("p", stages=stages).run(StreamingExecutor(), run_dir=root / "run", **options)


def test_sources_are_done_exactly_when_all_their_parts_are(ray_session, tmp_path, figures):
    result = run(tmp_path)
    survivors = [number * 10 + part for number in range(SOURCES) if number != POISON for part in range(PARTS)]
    passed_on = {task.data for task in result}
    assert set(survivors) <= passed_on
    assert len(passed_on) == len(result)
    assert [record.task_id for record in result.quarantined] == [str(POISON)]
    content = read_ledger(tmp_path / "run" / "ledger.jsonl")
    assert content.finished.is_complete
    assert set(content.done) == {str(number) for number in range(SOURCES)}
    again = run(tmp_path, resume=True)
    assert again.was_finished
    assert [task.data for task in again] == [task.data for task in result]
    figures.faults = SOURCES // 5 + 3
    figures.lost = len(set(survivors) - passed_on)
    figures.check("workers killed in the middle of calls")
