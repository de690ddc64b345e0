"""Any pipeline gives the same on every executor, whatever happens to its workers."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, ProcessingStage, StreamingExecutor, Task
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState
from tests.support.worker_kills import Killer

pytestmark = pytest.mark.usefixtures("ray_session")


PATIENCE_S = 5


class Step(ProcessingStage[Task, Task]):
    """One of the shapes that stages come in, over whole numbers.

    Args:
        shape: What it does: passes on, drops, fails on some, makes several at once or one by one, works in batches.
        number: Which one of the pipeline it is.
        folder: Where workers sign in to be killed, if they may be.
    """

    def __init__(self, shape, number, folder=None):
        self.shape = shape
        self.number = number
        self.folder = folder
        self.name = f"{number} {shape}"

    def setup(self, worker):
        if self.folder is not None:
            import os

            (Path(self.folder) / str(os.getpid())).touch()

    def process(self, task):
        value = task.data
        if self.shape == "drop":
            return None if value % 3 == 0 else task
        if self.shape == "fail" and value % 5 == 2:
            raise ValueError(f"{value} does not suit")
        if self.shape == "list":
            return [task.with_data(value * 2 + index) for index in range(value % 4)]
        if self.shape == "iterate":
            return (task.with_data(value * 3 + index) for index in range(value % 3))
        return task.with_data(value + self.number)

    def process_batch(self, tasks):
        return [self.process(task) for task in tasks]


@st.composite
def pipelines(draw):
    shapes = draw(st.lists(st.sampled_from(["pass", "drop", "fail", "list", "iterate"]), min_size=1, max_size=4))
    options = [
        {"fuse": draw(st.booleans()), "batch_size": draw(st.sampled_from([1, 1, 3])), "max_attempts": 2} for _ in shapes
    ]
    return shapes, options, draw(st.integers(0, 60))


def outcome(description, executor, folder=None, tasks=None):
    """Return the outputs and the quarantined tasks of a run, in an order that no executor decides."""
    shapes, options, count = description
    stages = [
        Step(shape, number, folder).with_(**chosen)
        for number, (shape, chosen) in enumerate(zip(shapes, options, strict=True))
    ]
    state = RunState()
    sources = tasks if tasks is not None else [Task(data=number) for number in range(count)]
    plan = Pipeline("any", stages=stages).build()
    outputs = list(stream_plan(plan, executor, state=state, initial_tasks=sources))
    records = [(record.stage, record.task_id, record.error_type) for record in state.quarantined]
    return sorted((task.task_id, task.data) for task in outputs), sorted(records)


def after_the_kills(count, killer):
    """Yield tasks, half of them when workers have been killed; where too few of them are at work, there are fewer."""
    for number in range(count):
        if number == max(1, count // 2):
            killer.is_done.wait(PATIENCE_S)
        yield Task(data=number)


def check(description, tmp_path_factory):
    """Run a pipeline in three ways; return the number of its outputs and of the workers that were killed."""
    alone = outcome(description, LocalExecutor())
    assert outcome(description, StreamingExecutor()) == alone
    folder = tmp_path_factory.mktemp("workers")
    with Killer(folder, kills=2, seed=description[2], pause_s=0.2).at_work() as killer:
        sources = after_the_kills(description[2], killer)
        assert outcome(description, StreamingExecutor(), str(folder), sources) == alone
    return len(alone[0]), killer.killed


FEW = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_many_pipelines_give_the_same_among_killers(tmp_path_factory):
    seen = []

    @settings(FEW, max_examples=12)
    @given(pipelines())
    def run(description):
        seen.append(check(description, tmp_path_factory))

    run()
    outputs, kills = (sum(each) for each in zip(*seen, strict=True))
    print(f"\n{len(seen)} pipelines in three ways: the same {outputs} outputs, with {kills} workers killed")  # noqa: T201 - the figures are what the suite is for
    assert kills > len(seen) // 2
