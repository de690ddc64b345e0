"""A stage that puts the wrong thing into a task fails on that task, by its name, on every executor."""

from dataclasses import dataclass

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.values.errors import StageError


@dataclass
class Unsized(Task):
    """A task of a third party whose size cannot be told of some payloads."""

    @property
    def size_bytes(self):
        return len(self.data)


class Careless(ProcessingStage[TableBatch, TableBatch]):
    """Makes an unsound output of each batch that says in which way."""

    def process(self, task):
        (way,) = task.data["way"].to_pylist()
        return {
            "sound": lambda: task.with_data([{"way": "sound"}]),  # what the constructor takes
            "with_data": lambda: task.with_data(5),
            "attribute": lambda: self.spoiled(task),
            "list": lambda: [task, self.spoiled(task)],
            "iterator": lambda: iter([self.spoiled(task)]),
            "no task": lambda: 5,
            "size": lambda: Unsized(data=5),
        }[way]()

    def spoiled(self, task):
        twin = task.with_data(task.data)
        twin.data = [{"n": 1}, {"n": 2}]
        return twin


def batches(*ways):
    return [TableBatch(data={"way": [way]}) for way in ways]


def check_failures(executor, stage, ways):
    """Check that a sound batch stays before, between and behind those that fail."""
    given = ["sound", *(each for way in ways for each in (way, "sound"))]
    result = Pipeline("p", stages=[stage]).run(executor, initial_tasks=batches(*given))
    failed = [str(number) for number, way in enumerate(given) if way != "sound"]
    assert [(each.stage, each.error_type) for each in result.quarantined] == [("Careless", "StageError")] * len(ways)
    assert sorted(each.task_id for each in result.quarantined) == failed
    sound = [task for task in result if task.task_id.partition("/")[0] not in failed]
    assert [task.data["way"].to_pylist() for task in sound] == [["sound"]] * (len(ways) + 1)


def test_an_unsound_output_is_a_failure_of_its_task(make_executor):
    ways = ["with_data", "attribute", "list", "iterator", "size"]
    check_failures(make_executor(max_attempts=1), Careless(), ways)


def test_an_unsound_output_of_a_batch_of_tasks_is_a_failure_of_its_task(make_executor):
    check_failures(make_executor(max_attempts=1), Careless().with_(batch_size=2), ["attribute", "no task"])


def test_the_policy_raise_names_the_stage():
    with pytest.raises(StageError, match="stage 'Careless' failed on task 1: StageError"):
        Pipeline("p", stages=[Careless()]).run(
            LocalExecutor(on_error="raise"), initial_tasks=batches("sound", "attribute", "sound")
        )
