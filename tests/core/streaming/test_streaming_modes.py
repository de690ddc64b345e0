"""Held GPUs, fixed pools, batch mode. Bounded memory is shown in tests/chaos."""

import time

import pytest

from curator_core import Pipeline, ProcessingStage, Resources, StreamingExecutor, Task

pytestmark = pytest.mark.usefixtures("ray_session")


def tasks(count):
    return [Task(data=n) for n in range(count)]


class Sleep(ProcessingStage[Task, Task]):
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def process(self, task):
        time.sleep(self.seconds)
        return task


def test_gpus_go_to_the_stages_that_need_them():
    gpu = Resources(cpus=0, gpus=1)
    stages = [Sleep(0.02).with_(name="fast", resources=gpu), Sleep(0.1).with_(name="slow", resources=gpu)]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(150))
    assert [task.data for task in result] == list(range(150))
    fast, slow = (result.stats[name].workers for name in ("fast", "slow"))
    end_s = fast[-1][0]  # from then on, its GPU is free for the other
    assert max(count for second, count in slow if second < end_s) == 3
    assert result.stats["slow"].busy_fraction is not None


def test_a_fixed_number_of_workers_is_kept():
    stage = Sleep(0.01).with_(workers=2)
    result = Pipeline("p", stages=[stage]).run(StreamingExecutor(), initial_tasks=tasks(100))
    assert max(count for _, count in result.stats["Sleep"].workers) == 2


def test_batch_mode_finishes_each_step_before_the_next():
    class Stamp(ProcessingStage[Task, Task]):
        fuse = False

        def process(self, task):
            return task.with_data([*task.data, time.time()])

    source = [Task(data=[]) for _ in range(200)]
    stages = [Stamp().with_(name="first"), Stamp().with_(name="second")]
    result = Pipeline("p", stages=stages).run(StreamingExecutor(mode="batch"), initial_tasks=source)
    assert len(result) == 200
    assert max(task.data[0] for task in result) <= min(task.data[1] for task in result)
