"""Held GPUs, fixed pools, batch mode. Bounded memory is shown in tests/chaos."""

import os
import time
from pathlib import Path

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


class SignIn(Sleep):
    """Sleeps, and leaves behind which process it did so in."""

    def __init__(self, seconds, folder):
        super().__init__(seconds)
        self.folder = str(folder)

    def setup(self, worker):
        (Path(self.folder) / f"{self.name}-{os.getpid()}").touch()


def test_gpus_go_to_the_stages_that_need_them(tmp_path):
    gpu = Resources(cpus=0, gpus=1)
    stages = [
        SignIn(0.02, tmp_path).with_(name="fast", resources=gpu),
        SignIn(0.1, tmp_path).with_(name="slow", resources=gpu),
    ]

    def until_it_has_three():
        """150 tasks, and more until the slow stage has a third worker, however long that takes this machine."""
        for number in range(3_000):
            if number >= 150 and len(list(tmp_path.glob("slow-*"))) > 2:
                return
            yield Task(data=number)

    result = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=until_it_has_three())
    assert [task.data for task in result] == list(range(len(result)))
    assert len(result) < 3_000
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
