"""Calls that are made again line up with the first try, although some of their outputs cannot be sent."""

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import ProcessingStage, Task
from curator_core.call.runner import StageRunner
from curator_core.executors.streaming.shell.call_execution import Budget, CallExecution
from curator_core.run.worker_state import WorkerState


class Counts(ProcessingStage[Task, Task]):
    """Makes numbered tasks, of which some cannot be pickled."""

    def __init__(self, unfit):
        self.unfit = unfit

    def process(self, task):
        for n in range(12):
            yield Task(data=threading.Lock() if n in self.unfit else n)


def call(unfit, **options):
    """Return what a call sends, and the ids of what it sets aside."""
    state = WorkerState()
    runner = StageRunner(Counts(unfit), state)
    inputs = [Task(data=0, task_id="s")]
    part = CallExecution([runner], state, inputs, Budget(seconds=3_600), **options).next_part()
    return [task.data for task in part.outputs], [record.task_id for record in part.reports.quarantined]


@settings(max_examples=40, deadline=None)
@given(unfit=st.frozensets(st.integers(0, 11)), data=st.data())
def test_a_part_that_is_made_again_holds_the_same_outputs(unfit, data):
    sent, aside = call(unfit)
    assert sent == [n for n in range(12) if n not in unfit]
    assert aside == [f"s/{n}" for n in sorted(unfit)]
    skip = data.draw(st.integers(0, len(sent)))
    assert call(unfit, skip=skip)[0] == sent[skip:]
    limit = data.draw(st.integers(0, len(sent) - skip))
    if limit:
        assert call(unfit, skip=skip, limit=limit)[0] == sent[skip : skip + limit]
