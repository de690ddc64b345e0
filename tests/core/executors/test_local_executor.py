"""The in-process executor: lazy, bounded, ordered, and the same with threads."""

import itertools
import threading
import time
import weakref
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import EmptyTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task, processing_stage
from curator_core.authoring.filter import Filter, Verdict
from curator_core.run.state import RunState
from curator_core.values.errors import ConfigError, StageError


class Numbers(ProcessingStage[EmptyTask, Task[int]]):
    """Makes tasks one by one and notes how many were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.made = 0

    def process(self, task):
        for n in range(self.count):
            self.made += 1
            yield Task(data=n)


@processing_stage(name="double")
def double(task: Task) -> Task:
    return task.with_data(task.data * 2)


class Repeat(ProcessingStage[Task, Task]):
    thread_safe = True

    def __init__(self, times: int) -> None:
        self.times = times

    def process(self, task):
        return [task.with_data((task.data, n)) for n in range(self.times)]


def test_a_stream_pulls_only_what_is_asked_for():
    source = Numbers(1_000_000)
    stream = Pipeline("p", stages=[source, double]).stream(LocalExecutor())
    assert [task.data for task in itertools.islice(stream, 3)] == [0, 2, 4]
    assert source.made == 3
    stream.close()


def test_initial_tasks_are_pulled_lazily():
    endless = (Task(data=n) for n in itertools.count())
    stream = Pipeline("p", stages=[double]).stream(initial_tasks=endless)
    assert [task.data for task in itertools.islice(stream, 2)] == [0, 2]
    stream.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_outputs_and_ids_do_not_depend_on_threads(threads):
    result = Pipeline("p", stages=[Numbers(20), double, Repeat(2)]).run(LocalExecutor(threads=threads))
    assert [task.data for task in result] == [(2 * n, k) for n in range(20) for k in range(2)]
    assert [task.task_id for task in result] == [f"{n}/{k}" for n in range(20) for k in range(2)]
    assert result.stats["Repeat"].tasks_in == 20
    assert result.stats["Repeat"].tasks_out == 40


@settings(max_examples=25)
@given(st.integers(1, 4), st.integers(0, 30), st.integers(1, 5))
def test_nothing_is_lost_or_doubled_with_any_threads_and_batch_size(threads, count, batch_size):
    stages = [Numbers(count), Repeat(3).with_(batch_size=batch_size)]
    result = Pipeline("p", stages=stages).run(LocalExecutor(threads=threads))
    assert sorted(task.data for task in result) == [(n, k) for n in range(count) for k in range(3)]
    assert len({task.task_id for task in result}) == len(result)


def test_thread_safe_stages_run_side_by_side_and_others_one_at_a_time():
    meeting = threading.Barrier(2, timeout=20)
    inside = []

    class Together(ProcessingStage[Task, Task]):
        thread_safe = True

        def process(self, task):
            meeting.wait()  # returns only if two threads are here at once
            return task

    class Alone(ProcessingStage[Task, Task]):
        def process(self, task):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.005)
            inside.pop()
            return task

    result = Pipeline("p", stages=[Numbers(4), Together(), Alone()]).run(LocalExecutor(threads=2))
    assert len(result) == 4
    assert result.quarantined == []


def test_an_error_in_a_thread_reaches_the_caller():
    class Fail(ProcessingStage[Task, Task]):
        thread_safe = True

        def process(self, task):
            if task.data == 5:
                raise ValueError("five")
            return task

    with pytest.raises(StageError, match="five"):
        Pipeline("p", stages=[Numbers(1000), Fail()]).run(LocalExecutor(threads=2, on_error="raise"))


def test_closing_a_threaded_stream_ends_its_threads_and_tears_down():
    torn_down = []

    class Watch(ProcessingStage[Task, Task]):
        thread_safe = True

        def process(self, task):
            return task

        def teardown(self):
            torn_down.append(True)

    before = _own_threads()  # a source that does not answer keeps its thread after the end of its run
    stream = Pipeline("p", stages=[Numbers(100_000), Watch()]).stream(LocalExecutor(threads=2))
    next(stream)
    assert len(_own_threads() - before) == 2
    stream.close()
    assert torn_down == [True]
    assert not _own_threads() - before


def _own_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("curator-")}


class Copied(Filter):
    """Keeps all but the first row, and counts how many of the tables that it and its like made are still held."""

    made: ClassVar[list[weakref.ref[pa.Table]]] = []
    held: ClassVar[list[int]] = []

    def inputs(self):
        return []

    def judge(self, batch):
        self.made.append(weakref.ref(batch.data))
        self.held.append(sum(table() is not None for table in self.made))
        number = np.arange(batch.num_rows)
        return Verdict(number, {"first": number == 0})


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("keeps_ledger", [False, True])
def test_a_line_of_stages_holds_a_few_tables_and_not_one_for_each(threads, keeps_ledger, tmp_path):
    class Tables(ProcessingStage[EmptyTask, TableBatch]):
        def process(self, task):
            for _ in range(6):
                yield TableBatch(data=pa.table({"n": np.arange(100)}))

    stages = [Tables(), *(Copied().with_(name=f"copied {number}") for number in range(8))]
    Copied.made.clear()
    Copied.held.clear()
    result = Pipeline("p", stages=stages).run(
        LocalExecutor(threads=threads), run_dir=tmp_path / "run" if keeps_ledger else None
    )
    assert [task.num_rows for task in result] == [92] * 6
    # Of each thread what it works on, what that was made of, and what its source made last.
    assert max(Copied.held) <= 3 * threads


def test_batches_are_filled_across_sources():
    sizes = []

    class Batched(ProcessingStage):
        batch_size = 4

        def process_batch(self, tasks):
            sizes.append(len(tasks))
            return tasks

        def process(self, task):
            sizes.append(1)
            return task

    Pipeline("p", stages=[Numbers(9), Batched()]).run()
    assert sizes == [4, 4, 1]


class Tables(ProcessingStage[EmptyTask, TableBatch]):
    def process(self, task):
        for n in range(100):
            yield TableBatch(data={"n": [n * 10 + k for k in range(10)]})


@pytest.mark.parametrize("threads", [1, 2])
def test_limit_takes_the_first_rows(threads):
    result = Pipeline("p", stages=[Tables()]).run(LocalExecutor(threads=threads, limit=25))
    assert [n for task in result for n in task.data["n"].to_pylist()] == list(range(25))
    assert result.rows_in == result.rows_out == 25


def test_setup_and_teardown_frame_the_run_once():
    events = []

    class Framed(ProcessingStage):
        def setup_on_node(self, node):
            events.append("node")

        def setup(self, worker):
            events.append("worker")

        def process(self, task):
            events.append("task")
            return task

        def teardown(self):
            events.append("end")

    Pipeline("p", stages=[Numbers(2), Framed()]).run()
    assert events == ["node", "worker", "task", "task", "end"]


def test_nonsense_arguments_are_refused():
    with pytest.raises(ConfigError, match="threads must be at least 1, got 0"):
        LocalExecutor(threads=0)
    with pytest.raises(ConfigError, match="limit must be at least 0, got -1"):
        LocalExecutor(limit=-1)


def test_one_object_returned_twice_becomes_two_tasks():
    @processing_stage(name="twice")
    def twice(task):
        return [task, task]

    result = Pipeline("p", stages=[Numbers(1), twice]).run()
    assert [task.task_id for task in result] == ["0/0", "0/1"]


def test_a_run_reports_what_happened(tmp_path):
    result = Pipeline("p", stages=[Numbers(3), double]).run(run_dir=tmp_path)
    assert "double" in result.report()
    assert result.rows_in == result.rows_out == 3
    assert result.wall_s >= result.time_to_first_output_s >= 0
    assert (tmp_path / "result.json").exists()
    assert "Numbers" in (tmp_path / "plan.txt").read_text()  # these stages have no name in a registry


def test_the_report_of_a_run_that_cuts_rows_claims_no_fraction_of_them():
    @processing_stage(name="cut")
    def cut(task):
        return [task, task]

    assert "6 rows made of 3 in" in Pipeline("p", stages=[Numbers(3), double, cut]).run().report()
    assert "3 of 3 rows kept (100.0%)" in Pipeline("p", stages=[Numbers(3), double]).run().report()


def test_a_run_directory_beside_a_state_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="the state that is given has its own run directory"):
        Pipeline("p", stages=[Numbers(2)]).run(run_dir=tmp_path / "run", state=RunState())
    assert not (tmp_path / "run").exists()
