"""Workers that die: whom it is blamed on, and what becomes of the run.

That nothing is lost or doubled meanwhile, and exactly the guilty tasks are kept aside, is shown in tests/chaos.
"""

import os
import signal
import time
from pathlib import Path

import pytest

from curator_core import EmptyTask, Pipeline, ProcessingStage, StreamingExecutor, Task, processing_stage
from curator_core.values.errors import StageError

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


def test_a_task_that_kills_workers_ends_the_run_under_raise():
    with pytest.raises(StageError, match=r"'Poisoned' failed on task 5: WorkerDiedError: .* died 3 times"):
        Pipeline("p", stages=[Poisoned((5,))]).run(StreamingExecutor(on_error="raise"), initial_tasks=tasks(20))


def test_the_stage_that_kills_its_worker_is_named_within_a_step_of_several_also_when_it_is_skipped():
    stages = [same.with_(name="before"), Poisoned((4,)).with_(fuse=True), same.with_(name="after")]
    plan = Pipeline("p", stages=stages).build()
    assert len(plan.steps) == 1
    result = Pipeline("p", stages=stages).run(StreamingExecutor(on_error="skip"), initial_tasks=tasks(10))
    assert (len(result), result.quarantined) == (9, [])
    assert {name: each.skipped for name, each in result.stats.items()} == {"before": 0, "Poisoned": 1, "after": 0}


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


FAST = 300
DEADLY = FAST + 1
PARTS = 40


class Fanned(ProcessingStage[Task, Task]):
    """Makes one task of the first ones, so that calls get long, and then 40 of one, slowly.

    The worker dies late in the second of the slow ones: always, or once, and then everything takes twice as long.
    """

    fuse = False
    max_workers = 1

    def __init__(self, folder: str, *, is_always: bool) -> None:
        self.folder = folder
        self.is_always = is_always

    def process(self, task):
        marker = Path(self.folder) / "died"
        has_died = marker.exists()
        for n in range(parts_of(task.data)):
            if task.data >= FAST:
                time.sleep(0.02 if has_died else 0.01)
            if task.data == DEADLY and n == PARTS - 3 and (self.is_always or not has_died):
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield Task(data=(task.data, n))


def parts_of(number):
    return 1 if number < FAST else PARTS


def test_a_slow_repetition_of_a_call_whose_outputs_were_passed_on_in_part_doubles_nothing(tmp_path):
    stages = [Fanned(str(tmp_path), is_always=False), same]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(FAST + 5))
    assert (tmp_path / "died").exists()
    assert [task.data for task in result] == [(task, n) for task in range(FAST + 5) for n in range(parts_of(task))]
    assert not result.quarantined
    assert (result.stats["Fanned"].tasks_in, result.stats["Fanned"].tasks_out) == (FAST + 5, FAST + 5 * PARTS)


def test_only_the_guilty_task_is_quarantined_when_others_of_its_call_are_complete(tmp_path):
    stages = [Fanned(str(tmp_path), is_always=True), same]
    result = Pipeline("p", stages=stages).run(
        StreamingExecutor(), initial_tasks=tasks(FAST + 5), run_dir=tmp_path / "run"
    )
    assert [record.task_id for record in result.quarantined] == [str(DEADLY)]
    made = [task.data for task in result]
    innocent = [(task, n) for task in range(FAST + 5) if task != DEADLY for n in range(parts_of(task))]
    assert [each for each in made if each[0] != DEADLY] == innocent
    assert len(set(made)) == len(made)


def test_a_set_up_that_kills_its_process_ends_the_run():
    class Fatal(ProcessingStage[Task, Task]):
        def setup(self, worker):
            os._exit(1)

        def process(self, task):
            return task

    with pytest.raises(StageError, match=r"workers of 'Fatal' died 3 times in a row while they were set up"):
        Pipeline("p", stages=[Fatal()]).run(StreamingExecutor(), initial_tasks=tasks(5))
