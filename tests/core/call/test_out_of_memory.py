"""What runs out of memory is tried with less, and only what cannot be made smaller is quarantined."""

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.call.out_of_memory import is_out_of_memory, release_memory
from curator_core.values.errors import StageError


class OutOfMemoryError(RuntimeError):
    """As torch.cuda has it."""


class Hungry(ProcessingStage[TableBatch, TableBatch]):
    """Has room for some units of rows at a time."""

    row_wise = True

    def __init__(self, room: int, error: type[Exception] = MemoryError) -> None:
        self.room = room
        self.error = error
        self.calls: list[int] = []

    def process(self, task):
        self.calls.append(task.num_rows)
        if sum(task.data["size"].to_pylist()) > self.room:
            raise self.error("too much")
        return task


def batch(*sizes):
    return TableBatch(data={"size": list(sizes)})


def test_out_of_memory_is_told_by_class_and_message():
    assert is_out_of_memory(OutOfMemoryError())
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"))
    assert not is_out_of_memory(RuntimeError("shape mismatch"))
    assert not is_out_of_memory(ValueError("CUDA out of memory"))


@pytest.mark.parametrize("error", [MemoryError, OutOfMemoryError])
@pytest.mark.parametrize("on_error", ["quarantine", "raise"])
def test_a_table_that_is_too_large_is_halved_at_once_and_no_row_is_lost(error, on_error):
    stage = Hungry(room=3, error=error)
    result = Pipeline("p", stages=[stage]).run(LocalExecutor(on_error=on_error), initial_tasks=[batch(*[1] * 12)])
    assert [task.num_rows for task in result] == [12]
    assert result.quarantined == []
    assert stage.calls == [12, 6, 3, 3, 6, 3, 3], "never twice with the same size"


def test_a_row_that_is_too_large_alone_is_quarantined_as_such():
    stage = Hungry(room=3)
    result = Pipeline("p", stages=[stage]).run(initial_tasks=[batch(1, 1, 9, 1)])
    assert [size for task in result for size in task.data["size"].to_pylist()] == [1, 1, 1]
    (record,) = result.quarantined
    assert (record.error_type, record.rows, record.is_part) == ("MemoryError", 1, True)
    with pytest.raises(StageError, match="MemoryError: too much"):
        Pipeline("p", stages=[Hungry(room=3)]).run(LocalExecutor(on_error="raise"), initial_tasks=[batch(1, 9)])


def test_a_batch_of_tasks_is_halved_at_once():
    class Model(ProcessingStage[Task, Task]):
        batch_size = 8
        sizes: list = []

        def process_batch(self, tasks):
            self.sizes.append(len(tasks))
            if len(tasks) > 2:
                raise OutOfMemoryError("CUDA out of memory")
            return tasks

    result = Pipeline("p", stages=[Model()]).run(initial_tasks=[Task(data=n) for n in range(8)])
    assert [task.data for task in result] == list(range(8))
    assert Model.sizes == [8, 4, 2, 2, 4, 2, 2]


def test_what_cannot_be_divided_is_tried_again_and_then_quarantined():
    class Whole(ProcessingStage[Task, Task]):
        def process(self, task):
            raise MemoryError

    (record,) = Pipeline("p", stages=[Whole()]).run(initial_tasks=[Task(data=1)]).quarantined
    assert (record.error_type, record.attempts) == ("MemoryError", 3)
    assert "raise MemoryError" in record.traceback


def test_what_the_failed_call_held_is_let_go():
    import weakref

    class Tensor:
        pass

    kept = []

    def call():
        tensor = Tensor()
        kept.append(weakref.ref(tensor))
        raise MemoryError

    try:
        call()
    except MemoryError as error:
        assert kept[0]() is not None
        release_memory(error)
        assert kept[0]() is None
