"""Workers that die: nothing is lost, nothing is doubled, and exactly the guilty tasks are kept aside."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from curator_core import EmptyTask, Pipeline, ProcessingStage, StreamingExecutor, Task, processing_stage
from curator_core.errors import StageError

pytestmark = pytest.mark.usefixtures("ray_session")


def tasks(count):
    return [Task(data=n) for n in range(count)]


class Poisoned(ProcessingStage[Task, Task]):
    """Kills its process on some tasks, as a crash of native code does."""

    fuse = False

    def __init__(self, bad: tuple[int, ...]) -> None:
        self.bad = bad

    def process(self, task):
        if task.data in self.bad:
            os.kill(os.getpid(), signal.SIGKILL)
        return task


@processing_stage(name="same")
def same(task):
    return task


def test_tasks_that_kill_workers_are_quarantined_and_all_others_come_out():
    stages = [same.with_(fuse=False, name="before"), Poisoned((37, 1200)), same.with_(fuse=False, name="after")]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(1_500))
    assert [task.data for task in result] == [n for n in range(1_500) if n not in (37, 1200)]
    assert sorted(record.task_id for record in result.quarantined) == ["1200", "37"]
    assert {record.stage for record in result.quarantined} == {"Poisoned"}
    assert all(record.attempts == 3 and "died 3 times" in record.message for record in result.quarantined)
    assert result.stats["Poisoned"].quarantined == 2


def test_a_task_that_kills_workers_ends_the_run_under_raise():
    with pytest.raises(StageError, match=r"'Poisoned' failed on task 5: the worker process died 3 times"):
        Pipeline("p", stages=[Poisoned((5,))]).run(StreamingExecutor(on_error="raise"), initial_tasks=tasks(20))


class Endless(ProcessingStage[Task, Task]):
    """Never returns on some tasks."""

    def __init__(self, bad: tuple[int, ...]) -> None:
        self.bad = bad

    def process(self, task):
        while task.data in self.bad:
            time.sleep(60)
        return task


def test_a_task_that_takes_longer_than_its_timeout_is_quarantined_and_all_others_come_out():
    stages = [Endless((3,)).with_(timeout_s=0.2), same.with_(fuse=False)]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(40))
    assert [task.data for task in result] == [n for n in range(40) if n != 3]
    (record,) = result.quarantined
    assert (record.task_id, record.stage, record.error_type) == ("3", "Endless", "TaskTimeoutError")
    assert "its timeout of 0.2 s" in record.message


def test_the_stage_that_kills_its_worker_is_named_within_a_step_of_several():
    stages = [same.with_(name="before"), Poisoned((4,)).with_(fuse=True, on_error="skip"), same.with_(name="after")]
    plan = Pipeline("p", stages=stages).build()
    assert len(plan.steps) == 1
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(10))
    assert len(result) == 9
    assert {name: each.skipped for name, each in result.stats.items()} == {"before": 0, "Poisoned": 1, "after": 0}


def test_skip_counts_a_task_that_kills_workers():
    result = Pipeline("p", stages=[Poisoned((5,))]).run(StreamingExecutor(on_error="skip"), initial_tasks=tasks(20))
    assert len(result) == 19
    assert result.quarantined == []
    assert result.stats["Poisoned"].skipped == 1


def test_workers_that_exit_at_random_lose_and_double_nothing():
    class Mortal(ProcessingStage[Task, Task]):
        fuse = False

        def setup(self, worker):
            self.random = random.Random(os.getpid())

        def process(self, task):
            if self.random.random() < 0.005:
                os._exit(1)
            if task.data % 100 == 7:
                raise ValueError("seven")
            return task

    stages = [Mortal(), Mortal().with_(name="again")]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(600))
    expected = [n for n in range(600) if n % 100 != 7]
    assert [task.data for task in result] == expected
    assert sorted(int(record.task_id) for record in result.quarantined) == [n for n in range(600) if n % 100 == 7]
    assert result.stats["again"].tasks_out == len(expected)


def test_a_source_whose_worker_dies_half_way_goes_on_where_it_was(tmp_path):
    class Numbers(ProcessingStage[EmptyTask, Task]):
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def process(self, task):
            for n in range(400):
                marker = Path(self.folder) / "died"
                if n == 300 and not marker.exists():
                    marker.touch()
                    os._exit(1)
                time.sleep(0.001)
                yield Task(data=n)

    result = Pipeline("p", stages=[Numbers(str(tmp_path)), same]).run(StreamingExecutor())
    assert (tmp_path / "died").exists()
    assert [task.data for task in result] == list(range(400))
    assert result.stats["Numbers"].tasks_out == 400


def test_a_set_up_that_kills_its_process_ends_the_run():
    class Fatal(ProcessingStage[Task, Task]):
        def setup(self, worker):
            os._exit(1)

        def process(self, task):
            return task

    with pytest.raises(StageError, match=r"workers of 'Fatal' died 3 times in a row while they were set up"):
        Pipeline("p", stages=[Fatal()]).run(StreamingExecutor(), initial_tasks=tasks(5))
