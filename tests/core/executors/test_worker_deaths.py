"""Workers that die: the tasks they had are repeated, and one that kills workers is found and kept aside."""

import os
import signal
import time
from pathlib import Path

import pytest

from curator_core import (
    ActorPoolExecutor,
    Pipeline,
    ProcessingStage,
    RayDataExecutor,
    Resources,
    StreamingExecutor,
    Task,
)
from curator_core.values.errors import StageError


class DiesOn(ProcessingStage[Task, Task]):
    """Ends its own process on one task: always, or the first time only, and then as a node that shuts down does."""

    def __init__(self, guilty: int, folder: str | None = None) -> None:
        self.guilty = guilty
        self.folder = folder

    def process(self, task):
        if task.data == self.guilty:
            marker = None if self.folder is None else Path(self.folder) / "died"
            if marker is None:
                os._exit(1)
            if not marker.exists():
                marker.touch()
                signal.raise_signal(signal.SIGTERM)
        return task


def numbers(count):
    return [Task(data=n) for n in range(count)]


def test_a_worker_that_dies_costs_nothing(ray_session, tmp_path):
    result = Pipeline("p", stages=[DiesOn(5, str(tmp_path))]).run(
        ActorPoolExecutor(actors_per_stage=2), initial_tasks=numbers(12)
    )
    assert [task.data for task in result] == list(range(12))
    stats = result.stats["DiesOn"]
    assert (stats.tasks_in, stats.tasks_out, stats.failures, result.quarantined) == (12, 12, 0, [])


def test_a_task_that_kills_workers_is_quarantined_and_the_rest_goes_on(ray_session):
    executor = ActorPoolExecutor(actors_per_stage=2)
    result = Pipeline("p", stages=[DiesOn(5)]).run(executor, initial_tasks=numbers(12))
    assert [task.data for task in result] == [n for n in range(12) if n != 5]
    (record,) = result.quarantined
    assert (record.stage, record.task_id, record.error_type, record.attempts) == ("DiesOn", "5", "WorkerDiedError", 3)
    assert record.payload == "5"
    assert (result.stats["DiesOn"].tasks_in, result.stats["DiesOn"].tasks_out) == (12, 11)


def test_a_task_that_kills_workers_ends_a_run_that_raises(ray_session):
    executor = ActorPoolExecutor(actors_per_stage=1, on_error="raise")
    with pytest.raises(StageError, match="'DiesOn' failed on task 0: WorkerDiedError: the worker process died 3 times"):
        Pipeline("p", stages=[DiesOn(0)]).run(executor, initial_tasks=numbers(1))


class DiesInSetup(ProcessingStage[Task, Task]):
    def setup(self, worker):
        os._exit(1)

    def process(self, task):
        return task


def test_workers_that_die_while_starting_end_the_run(ray_session):
    executor = ActorPoolExecutor(actors_per_stage=1)
    with pytest.raises(StageError, match="workers of 'DiesInSetup' died 3 times in a row while they were set up"):
        Pipeline("p", stages=[DiesInSetup()]).run(executor, initial_tasks=numbers(1))


def test_ray_data_ends_the_run_when_a_worker_dies(ray_session):
    with pytest.raises(StageError, match="Ray Data gave up in one of 'DiesOn'"):
        Pipeline("p", stages=[DiesOn(0)]).run(RayDataExecutor(), initial_tasks=numbers(1))


def test_stopping_ends_a_run_after_the_calls_in_hand(ray_session):
    from curator_core.run.run import stream_plan
    from curator_core.run.state import RunState

    class Slow(ProcessingStage[Task, Task]):
        def process(self, task):
            time.sleep(0.05)
            return task

    state = RunState()
    plan = Pipeline("p", stages=[Slow()]).build()
    stream = stream_plan(plan, ActorPoolExecutor(actors_per_stage=1), state=state, initial_tasks=numbers(1_000))
    next(stream)
    state.stop_requested.set()
    assert len(list(stream)) < 50


class FailsInAllButOne(ProcessingStage[Task, Task]):
    """Can be set up once, as one that needs a licence, a port or a device of which there is one.

    The worker that has it waits until another has tried.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def setup(self, worker):
        (self.folder / f"tried-{os.getpid()}").touch()
        (self.folder / "only").mkdir()

    def process(self, task):
        deadline_s = time.monotonic() + 60
        while len(list(self.folder.glob("tried-*"))) < 2 and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return task


@pytest.mark.parametrize("make", [lambda: ActorPoolExecutor(actors_per_stage=2), StreamingExecutor])
def test_a_worker_that_cannot_be_set_up_costs_no_task_where_another_can(ray_session, tmp_path, make, caplog):
    result = Pipeline("p", stages=[FailsInAllButOne(str(tmp_path))]).run(make(), initial_tasks=numbers(60))
    assert [task.data for task in result] == list(range(60))
    assert result.quarantined == []
    warned = [record.getMessage() for record in caplog.records if "could not be set up" in record.getMessage()]
    assert warned
    assert all("FileExistsError" in each for each in warned)


class NeedsThreeWorkers(ProcessingStage[Task, Task]):
    """Dies in its first worker and cannot be set up in the second; each wants all GPUs of the cluster."""

    resources = Resources(gpus=4)

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def setup(self, worker):
        self.number = len(list(self.folder.iterdir()))
        (self.folder / str(self.number)).touch()
        if self.number == 1:
            raise OSError("the device is in use")

    def process(self, task):
        if self.number == 0:
            os._exit(1)
        return task


def test_a_worker_that_cannot_be_set_up_makes_room_for_its_replacement(ray_session, tmp_path):
    executor = ActorPoolExecutor(actors_per_stage=1)
    result = Pipeline("p", stages=[NeedsThreeWorkers(str(tmp_path))]).run(executor, initial_tasks=numbers(3))
    assert [task.data for task in result] == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
