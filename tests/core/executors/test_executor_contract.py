"""What every executor promises, tested on every executor: the same outputs, ids, statistics and records."""

import gc
import itertools
import json
import sys
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curator_core import (
    EmptyTask,
    Filter,
    Pipeline,
    ProcessingStage,
    Resources,
    TableBatch,
    Task,
    Verdict,
    processing_stage,
)
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.values.errors import PipelineError, StageError, TooManyFailuresError


class Numbers(ProcessingStage[EmptyTask, Task]):
    """Makes its own work: an open number of tasks."""

    def __init__(self, count: int) -> None:
        self.count = count

    def process(self, task):
        for n in range(self.count):
            yield Task(data=n)


class NotDivisible(ProcessingStage[Task, Task]):
    """Returns None for some."""

    def __init__(self, by: int) -> None:
        self.by = by

    def process(self, task):
        return task if task.data % self.by else None


class Pairs(ProcessingStage[Task, Task]):
    """Returns a list."""

    def process(self, task):
        return [task.with_data((task.data, n)) for n in range(2)]


class Twice(ProcessingStage[TableBatch, TableBatch]):
    def process(self, task):
        return [task, task]


class BatchSizes(ProcessingStage[Task, Task]):
    """Wants several tasks at once, and notes how many it got."""

    batch_size = 3

    def process_batch(self, tasks):
        return [task.with_data((*task.data, len(tasks))) for task in tasks]


class Countdown(ProcessingStage[Task, Task]):
    """Returns an iterator."""

    def process(self, task):
        return (task.with_data(task.data) for _ in range(task.data[1] + 1))


def test_outputs_ids_order_and_counts(make_executor):
    stages = [Numbers(10), NotDivisible(3), Pairs(), BatchSizes(), Countdown()]
    result = Pipeline("p", stages=stages).run(make_executor())
    kept = [n for n in range(10) if n % 3]
    assert [task.data[:2] for task in result] == [(n, k) for n in kept for k in range(2) for _ in range(k + 1)]
    assert [task.task_id for task in result] == [f"{n}/{k}/{c}" for n in kept for k in range(2) for c in range(k + 1)]
    assert 1 < max(task.data[2] for task in result) <= 3
    assert list(result.stats) == ["Numbers", "NotDivisible", "Pairs", "BatchSizes", "Countdown"]
    counts = {name: (stats.tasks_in, stats.tasks_out) for name, stats in result.stats.items()}
    assert counts == {
        "Numbers": (1, 10),
        "NotDivisible": (10, 6),
        "Pairs": (6, 12),
        "BatchSizes": (12, 12),
        "Countdown": (12, 18),
    }
    assert result.time_to_first_output_s <= result.wall_s
    assert (result.quarantined, result.interrupted) == ([], False)


class FailsOnce(ProcessingStage[TableBatch, TableBatch]):
    """Fails on the first call for each batch, in whichever process that is."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, task):
        marker = Path(self.folder) / f"tried-{task.task_id}"
        if not marker.exists():
            marker.touch()
            raise ValueError("not yet")
        return task


class NoSevens(ProcessingStage[TableBatch, TableBatch]):
    row_wise = True

    def process(self, task):
        if 7 in task.data["n"].to_pylist():
            raise ValueError("seven")
        return task


class OnlySmall(Filter):
    def judge(self, batch):
        numbers = batch.series("n")
        return Verdict(numbers, {"too_large": numbers >= 10})


class PoliteRefusal(ProcessingStage[TableBatch, TableBatch]):
    def process(self, task):
        if 0 in task.data["n"].to_pylist():
            raise RuntimeError("zero")
        return task


def batches(count, rows):
    for k in range(count):
        numbers = list(range(k * rows, (k + 1) * rows))
        yield TableBatch(data={"n": numbers, "_source": ["f.jsonl"] * rows, "_row": numbers})


def test_retries_quarantine_policies_drops_and_the_run_directory(make_executor, tmp_path):
    marks, run_dir = tmp_path / "marks", tmp_path / "run"
    marks.mkdir()
    stages = [
        FailsOnce(str(marks)),
        NoSevens(),
        OnlySmall(save_dropped=True),
        PoliteRefusal().with_(on_error="skip", max_attempts=1),
    ]
    result = Pipeline("p", stages=stages).run(make_executor(), initial_tasks=batches(5, 4), run_dir=run_dir)

    assert [n for task in result for n in task.data["n"].to_pylist()] == [1, 2, 3, 4, 5, 6, 8, 9]
    stats = result.stats
    assert (stats["FailsOnce"].failures, stats["FailsOnce"].retries) == (5, 5)
    assert (stats["NoSevens"].rows_in, stats["NoSevens"].rows_out, stats["NoSevens"].quarantined) == (20, 19, 1)
    assert stats["OnlySmall"].dropped == {"too_large": 10}
    assert (stats["PoliteRefusal"].skipped, stats["PoliteRefusal"].quarantined) == (1, 0)

    (record,) = result.quarantined
    assert (record.stage, record.task_id, record.source, record.row) == ("NoSevens", "1", "f.jsonl", 7)
    assert (record.error_type, record.message, record.rows, record.attempts) == ("ValueError", "seven", 1, 4)
    assert 'raise ValueError("seven")' in record.traceback
    assert "'n': 7" in record.payload

    assert record.worker
    assert record.node
    assert record.is_part
    (line,) = (run_dir / "quarantine" / "records.jsonl").read_text().splitlines()
    assert json.loads(line) == record.to_dict()
    kept = QuarantineFolder(run_dir).load_payload(record, task_type=TableBatch)
    assert kept.data.to_pylist() == [{"n": 7, "_source": "f.jsonl", "_row": 7}]
    assert stats["NoSevens"].failed == {"ValueError": 1}
    assert stats["PoliteRefusal"].failed == {"RuntimeError": 1}
    dropped = pq.read_table(run_dir / "dropped" / "OnlySmall")
    assert sorted(dropped["n"].to_pylist()) == list(range(10, 20))
    assert set(dropped["_reason"].to_pylist()) == {"too_large"}
    assert json.loads((run_dir / "result.json").read_text())["quarantined"] == 1
    assert "NoSevens" in (run_dir / "plan.txt").read_text()

    mended = Pipeline("p", stages=[Twice().with_(name="NoSevens")])
    again = retry_quarantined(run_dir, pipeline=mended, executor=make_executor())
    assert again.resolved == [record.record_id]
    assert sorted(task.task_id for task in again.outputs) == [f"1/q{record.record_id}/{n}" for n in range(2)]


@processing_stage(name="refuse_two")
def refuse_two(task):
    if task.data == 2:
        raise ValueError("two")
    return task


@processing_stage(name="refuse_most")
def refuse_most(task):
    if task.data % 4:
        raise ValueError("most")
    return task


def test_raise_ends_the_run_and_names_the_place(make_executor):
    pipeline = Pipeline("p", stages=[refuse_two])
    with pytest.raises(StageError, match=r"stage 'refuse_two' failed on task 2: ValueError: two") as caught:
        pipeline.run(make_executor(on_error="raise"), initial_tasks=[Task(data=n) for n in range(5)])
    assert isinstance(caught.value.__cause__, ValueError)
    assert cpus_in_use() == 0, "a run that ends early gives everything back, even while its error is being held"


def cpus_in_use(patience_s=20):
    """Return how many of Ray's CPUs are taken, waiting a while for workers to end."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return 0
    deadline = time.monotonic() + patience_s
    gc.collect()  # handles of actors that earlier tests left in reference cycles
    while True:
        taken = ray.cluster_resources()["CPU"] - ray.available_resources().get("CPU", 0)
        if not taken or time.monotonic() > deadline:
            return taken
        time.sleep(0.1)


def test_skip_as_the_policy_of_a_run_that_ends_when_too_much_is_skipped(make_executor, tmp_path):
    executor = make_executor(on_error="skip", max_attempts=1, max_failed_fraction=0.2)
    with pytest.raises(TooManyFailuresError, match=r"stage 'refuse_most' failed on .*\(20\.0%\): ValueError \("):
        Pipeline("p", stages=[refuse_most]).run(
            executor, initial_tasks=[Task(data=n) for n in range(400)], run_dir=tmp_path
        )
    (stats,) = json.loads((tmp_path / "result.json").read_text())["stages"]
    assert stats["failed"]["ValueError"] == stats["skipped"] == stats["failures"] > 20
    assert (stats["retries"], stats["quarantined"]) == (0, 0)
    assert not (tmp_path / "quarantine").exists()
    assert cpus_in_use() == 0


class Framed(ProcessingStage[Task, Task]):
    """Leaves a file for each time it is set up and torn down."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def note(self, what):
        (Path(self.folder) / f"{what}-{time.monotonic_ns()}").touch()

    def setup_on_node(self, node):
        assert node.node_id
        self.note("node")

    def setup(self, worker):
        assert worker.worker_id
        assert len(list(Path(self.folder).glob("node-*"))) == 1
        self.note("setup")

    def process(self, task):
        return task

    def teardown(self):
        self.note("teardown")


def events(folder):
    names = [path.name.partition("-")[0] for path in Path(folder).iterdir()]
    return {name: names.count(name) for name in ("node", "setup", "teardown")}


def wait_for_teardown(folder, patience_s=20):
    deadline = time.monotonic() + patience_s
    while events(folder)["teardown"] < events(folder)["setup"] and time.monotonic() < deadline:
        time.sleep(0.05)
    return events(folder)


def test_setup_once_a_node_and_teardown_once_a_worker(make_executor, tmp_path):
    result = Pipeline("p", stages=[Framed(str(tmp_path))]).run(
        make_executor(), initial_tasks=[Task(data=n) for n in range(20)]
    )
    assert len(result) == 20
    seen = wait_for_teardown(tmp_path)
    assert seen["node"] == 1
    assert seen["setup"] == seen["teardown"] >= 1


def test_a_stream_pulls_lazily_and_tears_down_when_closed(make_executor, tmp_path):
    pulled = []

    def endless():
        for n in itertools.count():
            pulled.append(n)
            yield Task(data=n)

    stream = Pipeline("p", stages=[Framed(str(tmp_path))]).stream(make_executor(), initial_tasks=endless())
    first = [next(stream).data for _ in range(2)]
    stream.close()
    count = len(pulled)
    assert set(first) <= set(range(count))
    seen = wait_for_teardown(tmp_path)
    assert seen["teardown"] == seen["setup"]
    assert len(pulled) == count, "nothing is pulled once the stream is closed"


class NoModel(ProcessingStage[Task, Task]):
    def setup(self, worker):
        raise FileNotFoundError("weights.bin")

    def process(self, task):
        return task


def test_a_setup_that_fails_is_told_once(make_executor):
    pipeline = Pipeline("p", stages=[NoModel()])
    expected = r"'NoModel' could not be set up: FileNotFoundError: weights\.bin"
    with pytest.raises(StageError, match=expected) as caught:
        pipeline.run(make_executor(), initial_tasks=[Task(data=n) for n in range(20)])
    assert str(caught.value).count("could not be set up") == 1


def test_no_input_gives_no_output(make_executor):
    result = Pipeline("p", stages=[Pairs(), Countdown()]).run(make_executor(), initial_tasks=[])
    assert len(result) == 0
    assert [stats.tasks_in for stats in result.stats.values()] == [0, 0]
    assert result.warnings == ["no tasks were given"]


def test_a_run_that_drops_all_rows_warns(make_executor):
    tasks = [TableBatch(data={"n": [10, 11]}), TableBatch(data={"n": [12]})]
    result = Pipeline("p", stages=[NoSevens(), OnlySmall()]).run(make_executor(), initial_tasks=tasks)
    assert result.warnings == ["no rows are left of 3: 'OnlySmall' dropped 3 (too_large: 3)"]


def test_an_error_of_the_source_reaches_the_caller(make_executor):
    def broken():
        yield Task(data=1)
        raise RuntimeError("source broke")

    with pytest.raises(RuntimeError, match="source broke"):
        Pipeline("p", stages=[Pairs()]).run(make_executor(), initial_tasks=broken())


class Locked(ProcessingStage[Task, Task]):
    def __init__(self) -> None:
        self.turnstile = threading.Lock()

    def process(self, task):
        return task


def test_a_stage_that_cannot_travel_is_named_with_its_attribute(make_ray_executor):
    with pytest.raises(PipelineError, match=r"'Locked' cannot be sent to workers because of its attribute 'turnstile'"):
        Pipeline("p", stages=[Locked()]).run(make_ray_executor(), initial_tasks=[Task(data=1)])


def test_a_stage_that_fits_nowhere_is_refused_before_anything_starts(make_ray_executor):
    pulled = []

    def source():
        pulled.append(1)
        yield Task(data=1)

    stage = Pairs().with_(resources=Resources(cpus=1000))
    with pytest.raises(PipelineError, match=r"'Pairs'.*cpus=1000"):
        Pipeline("p", stages=[stage]).run(make_ray_executor(), initial_tasks=source())
    assert pulled == []


class RaisesAnything(ProcessingStage[Task, Task]):
    """Raises what is no ``Exception``, on three numbers: libraries call ``sys.exit``, and native code panics."""

    kinds = (SystemExit, KeyboardInterrupt, GeneratorExit)

    def __init__(self, first: int) -> None:
        self.first = first

    def process(self, task):
        if 0 <= task.data - self.first < len(self.kinds):
            raise self.kinds[task.data - self.first](3)
        return task


class RaisesWhileIterating(RaisesAnything):
    def process(self, task):
        yield task
        super().process(task)


class RaisesInBatches(RaisesAnything):
    batch_size = 4

    def process_batch(self, tasks):
        return [self.process(task) for task in tasks]


class UntellableError(Exception):
    """Can neither be pickled nor shown."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __str__(self):
        raise RuntimeError("no text")


class RaisesUntellable(RaisesAnything):
    kinds = (lambda _: UntellableError(),)


class NotAnException(ProcessingStage[TableBatch, TableBatch]):
    row_wise = True

    def process(self, task):
        if 7 in task.data["n"].to_pylist():
            sys.exit("seven")
        return task


def test_whatever_a_stage_raises_is_a_failure_of_its_task(make_executor):
    stages = [RaisesAnything(0), RaisesInBatches(3), RaisesUntellable(6), RaisesWhileIterating(7)]
    pipeline = Pipeline("p", stages=[stage.with_(max_attempts=2) for stage in stages])
    result = pipeline.run(make_executor(), initial_tasks=[Task(data=n) for n in range(12)])
    found = {record.task_id: (record.stage, record.error_type, record.attempts) for record in result.quarantined}
    names = [error.__name__ for error in RaisesAnything.kinds]
    assert found == {
        **{str(n): ("RaisesAnything", name, 2) for n, name in enumerate(names)},
        **{str(3 + n): ("RaisesInBatches", name, 2) for n, name in enumerate(names)},
        "6": ("RaisesUntellable", "UntellableError", 2),
        **{str(7 + n): ("RaisesWhileIterating", name, 2) for n, name in enumerate(names)},
    }
    assert [task.data for task in result] == [7, 8, 9, 10, 11], "what was there before the iteration failed is kept"
    assert not result.interrupted


def test_whatever_a_stage_raises_is_isolated_to_its_rows(make_executor):
    result = Pipeline("p", stages=[NotAnException()]).run(make_executor(), initial_tasks=batches(2, 5))
    assert [n for task in result for n in task.data["n"].to_pylist()] == [n for n in range(10) if n != 7]
    assert [(record.error_type, record.message) for record in result.quarantined] == [("SystemExit", "seven")]


class ExitsInSetup(ProcessingStage[Task, Task]):
    def setup(self, worker):
        sys.exit("no licence")

    def process(self, task):
        return task


def test_an_exit_in_setup_is_a_setup_that_fails(make_executor):
    with pytest.raises(StageError, match=r"'ExitsInSetup' could not be set up: SystemExit: no licence"):
        Pipeline("p", stages=[ExitsInSetup()]).run(make_executor(), initial_tasks=[Task(data=1)])


class OneWayError(Exception):
    """Can be pickled, but not be made again of what is pickled."""

    def __init__(self, what, why) -> None:
        super().__init__(f"{what}: {why}")


class ExitsWhenPickled:
    def __reduce__(self):
        sys.exit("no state")


class LeavesLocks(ProcessingStage[Task, Task]):
    """Makes three tasks of one; those of numbers 5, 7 and 8 have one in the middle that cannot be sent."""

    def process(self, task):
        made = [task.with_data((task.data, n)) for n in range(3)]
        if task.data == 5:
            made[1] = task.with_data(threading.Lock())
        elif task.data == 7:
            made[1].meta = {"warning": OneWayError("row 1", "too long")}
        elif task.data == 8:
            made[1] = task.with_data(ExitsWhenPickled())
        return made


class LeadsOn(ProcessingStage[Task, Task]):
    def process(self, task):
        return task


class MakesLocks(ProcessingStage[EmptyTask, Task]):
    """A source of which one task cannot be pickled."""

    def process(self, task):
        for n in range(9):
            yield Task(data=threading.Lock() if n == 2 else n)


LOCKLESS = [(n, k) for n in range(9) for k in range(3) if n != 2 and (n, k) not in {(5, 1), (7, 1), (8, 1)}]


@pytest.mark.parametrize("is_last", [True, False])
def test_what_cannot_leave_its_worker_is_quarantined_by_the_stage_that_made_it(make_ray_executor, is_last, tmp_path):
    stages = [LeadsOn(), LeavesLocks()] if is_last else [LeavesLocks(), LeadsOn().with_(fuse=False)]
    stages = [MakesLocks().with_(fuse=False), *stages]
    result = Pipeline("p", stages=stages).run(make_ray_executor(), run_dir=tmp_path)
    assert [task.data for task in result] == LOCKLESS
    records = sorted(result.quarantined, key=lambda record: record.task_id)
    found = [(record.stage, record.task_id, record.error_type) for record in records]
    outputs = [("LeavesLocks", task_id, "UnpicklableOutputError") for task_id in ("5/1", "7/1", "8/1")]
    assert found == [("MakesLocks", "2", "UnpicklableOutputError"), *outputs]
    assert "cannot pickle '_thread.lock' object" in records[1].message
    assert "missing 1 required positional argument: 'why'" in records[2].message
    assert "SystemExit: no state" in records[3].message
    stats = result.stats["LeavesLocks"]
    assert (stats.tasks_in, stats.tasks_out, stats.quarantined) == (8, 21, 3)
    assert json.loads((tmp_path / "result.json").read_text())["quarantined"] == 4


def test_an_output_that_cannot_leave_its_worker_is_skipped_or_raised_by_policy(make_ray_executor):
    stages = [MakesLocks(), LeavesLocks()]
    result = Pipeline("p", stages=stages).run(make_ray_executor(on_error="skip"))
    assert ([task.data for task in result], result.quarantined) == (LOCKLESS, [])
    tasks = [Task(data=n) for n in range(9)]
    with pytest.raises(StageError, match=r"'LeavesLocks' failed on task [578]/1: UnpicklableOutputError: .*cannot"):
        Pipeline("p", stages=[LeavesLocks()]).run(make_ray_executor(on_error="raise"), initial_tasks=tasks)
