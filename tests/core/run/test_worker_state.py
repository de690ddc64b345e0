"""Reports of a worker process reach the driver's state, counted once."""

import pickle

from curator_core import ProcessingStage, Task
from curator_core.call.runner import StageRunner
from curator_core.run.state import RunState
from curator_core.run.worker_state import WorkerState


class OnlyEven(ProcessingStage):
    def process(self, task):
        if task.data % 2:
            raise ValueError("odd")
        return task


def test_what_workers_report_adds_up_in_the_driver():
    driver = RunState()
    worker = WorkerState()
    runner = StageRunner(OnlyEven(), worker, max_attempts=1)
    for start in (0, 10):
        list(runner.run(Task(data=n, task_id=str(n)) for n in range(start, start + 3)))
        reports = pickle.loads(pickle.dumps(worker.take()))
        driver.absorb(reports.stats, reports.quarantined)
    stats = driver.stats["OnlyEven"]
    assert (stats.tasks_in, stats.tasks_out, stats.failures, stats.quarantined) == (6, 4, 2, 2)
    assert [record.task_id for record in driver.quarantined] == ["1", "11"]
    assert worker.take().stats["OnlyEven"].tasks_in == 0
