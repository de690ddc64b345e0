"""The streaming executor gives what the in-process executor gives: outputs, ids, counts, quarantine."""

import itertools
import os
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from curator_core import (
    EmptyTask,
    FileGroupTask,
    LocalExecutor,
    Pipeline,
    ProcessingStage,
    RayDataExecutor,
    StreamingExecutor,
    TableBatch,
    Task,
    processing_stage,
)
from curator_core.authoring.recording import report
from curator_core.values.errors import ConfigError, PipelineError, StageError
from curator_core.values.resources import Resources

pytestmark = pytest.mark.usefixtures("ray_session")


class Numbers(ProcessingStage[EmptyTask, Task[int]]):
    def __init__(self, count: int) -> None:
        self.count = count

    def process(self, task):
        for n in range(self.count):
            yield Task(data=n)


class Repeat(ProcessingStage[Task, Task]):
    def __init__(self, times: int) -> None:
        self.times = times

    def process(self, task):
        return [task.with_data((task.data, n)) for n in range(self.times)]


class OnlyEven(ProcessingStage[Task, Task]):
    def process(self, task):
        if task.data % 7 == 3:
            raise ValueError(f"{task.data} is bad")
        if task.data % 2:
            report().drop("odd")
            return None
        return task.with_data(task.data)


def tasks(count):
    return (Task(data=n, meta={"n": n}) for n in range(count))


def same_results(stages, count):
    local = Pipeline("p", stages=stages).run(LocalExecutor(), initial_tasks=tasks(count) if count else None)
    streamed = Pipeline("p", stages=stages).run(StreamingExecutor(), initial_tasks=tasks(count) if count else None)
    assert [(task.task_id, task.data, task.meta) for task in streamed] == [
        (task.task_id, task.data, task.meta) for task in local
    ]
    for name, expected in local.stats.items():
        found = streamed.stats[name]
        for field in ("tasks_in", "tasks_out", "rows_in", "rows_out", "retries", "failures", "quarantined", "dropped"):
            assert getattr(found, field) == getattr(expected, field), (name, field)
    key = lambda record: (record.stage, record.task_id)  # noqa: E731
    assert [
        (record.stage, record.task_id, record.message, record.attempts, record.payload)
        for record in sorted(streamed.quarantined, key=key)
    ] == [
        (record.stage, record.task_id, record.message, record.attempts, record.payload)
        for record in sorted(local.quarantined, key=key)
    ]
    return streamed


@pytest.mark.parametrize("fuse", [True, False])
def test_outputs_ids_counts_and_quarantine_equal_those_of_the_local_executor(fuse):
    stages = [OnlyEven().with_(fuse=fuse), Repeat(3).with_(fuse=fuse)]
    result = same_results(stages, 300)
    assert result.stats["OnlyEven"].quarantined > 0
    assert result.stats["Repeat"].workers
    assert result.stats["Repeat"].queue_peak > 0
    assert result.stats["OnlyEven"].setup_time_s > 0


def test_a_source_stage_makes_its_tasks_in_a_worker():
    result = same_results([Numbers(5_000), Repeat(2)], 0)
    assert len(result) == 10_000


def test_tables_survive_the_journey_and_batches_are_filled():
    class Batched(ProcessingStage[TableBatch, TableBatch]):
        batch_size = 4

        def process_batch(self, batches):
            return [batch.with_column("batch", [len(batches)] * batch.num_rows) for batch in batches]

    source = [TableBatch(data={"n": [10 * k + n for n in range(10)]}) for k in range(9)]
    result = Pipeline("p", stages=[Batched()]).run(StreamingExecutor(), initial_tasks=source)
    assert [n for task in result for n in task.data["n"].to_pylist()] == list(range(90))
    assert sum(task.data["batch"].to_pylist()[0] == 4 for task in result) >= 4


def test_a_small_slice_of_a_large_table_travels_alone():
    class Cut(ProcessingStage[TableBatch, TableBatch]):
        def process(self, task):
            table = pa.table({"x": pa.array(range(1_000_000))})
            for n in range(20):
                yield TableBatch(data=table.slice(n * 10, 10))

    class Size(ProcessingStage[TableBatch, Task]):
        fuse = False

        def process(self, task):
            return Task(data=(task.data["x"].to_pylist()[0], task.data.get_total_buffer_size()))

    result = Pipeline("p", stages=[Cut(), Size()]).run(StreamingExecutor(), initial_tasks=[TableBatch(data={})])
    assert [task.data[0] for task in result] == [n * 10 for n in range(20)]
    assert max(task.data[1] for task in result) < 10_000


def test_file_tasks_keep_their_order():
    source = [FileGroupTask(data=[f"{n}.txt"]) for n in range(50)]

    @processing_stage(name="same")
    def same(task):
        time.sleep(0.001 * (task.data[0].path == "0.txt") * 100)
        return task

    result = Pipeline("p", stages=[same]).run(StreamingExecutor(), initial_tasks=source)
    assert [task.paths for task in result] == [[f"{n}.txt"] for n in range(50)]


def test_an_open_ended_stage_is_not_let_run_ahead():
    class Endless(ProcessingStage[EmptyTask, Task]):
        def process(self, task):
            for n in itertools.count():
                yield Task(data=bytes(100_000) + n.to_bytes(8, "big"))

    class Slow(ProcessingStage[Task, Task]):
        def process(self, task):
            time.sleep(0.002)
            return Task(data=int.from_bytes(task.data[-8:], "big"))

    executor = StreamingExecutor(memory_limit_bytes=20_000_000)
    stream = Pipeline("p", stages=[Endless(), Slow()]).stream(executor)
    seen = [task.data for task in itertools.islice(stream, 500)]
    stream.close()
    assert len(set(seen)) == 500
    assert max(seen) < 1_500  # the queue is bounded, so the source was stopped soon after


def test_a_request_to_stop_drains_what_is_in_hand():
    from curator_core.run.run import run_plan
    from curator_core.run.state import RunState

    @processing_stage(name="slow")
    def slow(task):
        time.sleep(0.002)
        return task

    def endless():
        for n in itertools.count():
            if n == 100:
                threading.Timer(0.5, state.stop_requested.set).start()
            yield Task(data=n)

    state = RunState()
    plan = Pipeline("p", stages=[slow]).build()
    result = run_plan(plan, StreamingExecutor(), initial_tasks=endless(), state=state)
    assert result.interrupted
    assert result.stats["slow"].tasks_in == result.stats["slow"].tasks_out == len(result)
    assert len({task.data for task in result}) == len(result)


def test_a_stage_that_needs_more_than_any_node_has_is_refused_before_the_start():
    stage = Repeat(1).with_(resources=Resources(cpus=64))
    with pytest.raises(PipelineError, match=r"'Repeat' needs cpus=64 for a worker, more than any node has"):
        Pipeline("p", stages=[stage]).run(StreamingExecutor(), initial_tasks=tasks(10))


def test_a_task_that_cannot_travel_is_named():
    with pytest.raises(StageError, match=r"a task \(one of 0 to \d\) cannot be sent to a worker: cannot pickle"):
        Pipeline("p", stages=[Repeat(1)]).run(StreamingExecutor(), initial_tasks=[Task(data=threading.Lock())])


def test_setup_runs_once_per_node_and_per_worker_and_teardown_at_the_end(tmp_path):
    class Framed(ProcessingStage[Task, Task]):
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def note(self, what):
            Path(self.folder, f"{what}-{uuid.uuid4()}").touch()

        def setup_on_node(self, node):
            self.note("node")

        def setup(self, worker):
            self.note("worker")

        def process(self, task):
            return task

        def teardown(self):
            self.note("end")

    Pipeline("p", stages=[Framed(str(tmp_path)).with_(workers=2)]).run(StreamingExecutor(), initial_tasks=tasks(100))
    names = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert names.count("node") == 1
    assert names.count("worker") == names.count("end") == 2


def test_nonsense_arguments_are_refused():
    with pytest.raises(ConfigError, match="got 'fast'"):
        StreamingExecutor(mode="fast")
    with pytest.raises(ConfigError, match="memory_limit_bytes must be positive, got 0"):
        StreamingExecutor(memory_limit_bytes=0)


class Worker(ProcessingStage[Task, Task]):
    def process(self, task):
        return task.with_data((task.data, os.getpid(), os.environ.get("CURATOR_TEST_HOME")))


def test_a_worker_is_replaced_after_some_calls():
    stage = Worker().with_(max_calls_per_worker=5, workers=1)
    found = [task.data for task in Pipeline(stages=[stage]).run(StreamingExecutor(), initial_tasks=tasks(40))]
    assert [number for number, _, _ in found] == list(range(40))
    calls = Counter(worker for _, worker, _ in found)
    assert len(calls) > 4
    assert max(calls.values()) < 2 * 5


@pytest.mark.parametrize("executor", [StreamingExecutor(), RayDataExecutor()], ids=["streaming", "ray_data"])
def test_workers_get_the_environment_of_their_stage(executor):
    stage = Worker().with_(runtime_env={"env_vars": {"CURATOR_TEST_HOME": "/models"}})
    plain = Worker().with_(name="plain")
    found = Pipeline(stages=[stage, plain]).run(executor, initial_tasks=tasks(3))
    assert [(inner, home) for inner, _, home in (task.data for task in found)] == [
        ((number, inner, "/models"), None) for (number, inner, _), _, _ in (task.data for task in found)
    ]
