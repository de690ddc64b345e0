"""A driver that is kept busy or stopped: workers whose answers wait unread are not ended for it."""

import os
import time
from pathlib import Path

import pytest

from curator_core import Pipeline, ProcessingStage, StreamingExecutor, Task

pytestmark = pytest.mark.usefixtures("ray_session")


class Quick(ProcessingStage[Task, Task]):
    """Is always in time, and leaves behind which processes it ran in and which of them ended well."""

    timeout_s = 2.0

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def setup(self, worker):
        (Path(self.folder) / f"set-up-{os.getpid()}").touch()

    def process(self, task):
        time.sleep(0.01)
        return task

    def teardown(self):
        (Path(self.folder) / f"torn-down-{os.getpid()}").touch()


def test_a_consumer_that_takes_its_time_costs_no_worker(tmp_path):
    stream = Pipeline("p", stages=[Quick(str(tmp_path))]).stream(
        StreamingExecutor(), initial_tasks=[Task(data=n) for n in range(400)]
    )
    numbers, kept = [], 0
    for task in stream:
        numbers.append(task.data)
        if len(numbers) > 100 * kept and kept < 2:
            kept += 1
            time.sleep(5)  # longer than any call of the stage may last
    assert sorted(numbers) == list(range(400))
    assert len(list(tmp_path.glob("set-up-*"))) == len(list(tmp_path.glob("torn-down-*"))), "a worker was killed"
