"""What the driver holds for each task that goes through the streaming executor."""

import pytest

from curator_core import Pipeline, StreamingExecutor, Task, processing_stage
from tests.support.memory_per_task import check_memory


@processing_stage(name="pass_on")
def pass_on(task: Task) -> Task:
    return task


@pytest.mark.usefixtures("ray_session")
def test_the_streaming_executor_holds_nothing_for_a_task_that_went_through():
    executor = StreamingExecutor()

    def run(count):
        tasks = (Task(data=number) for number in range(count))
        assert sum(1 for _ in Pipeline("p", stages=[pass_on]).stream(executor, tasks)) == count
        return executor

    check_memory(run, left=10)
