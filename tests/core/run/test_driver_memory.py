"""What the driver holds for each task: a few bytes, so that runs of millions of tasks fit into its memory."""

import json
from pathlib import Path

import pytest

from curator_core import FileGroupTask, LocalExecutor, Pipeline, Task, processing_stage
from curator_core.authoring.tasks import FileSlice
from curator_core.call.lineage import number_sources
from curator_core.executors.streaming.engine.model import Node, StepSpec
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel
from curator_core.run.ledger.descriptions import describe_output
from curator_core.run.ledger.run_ledger import known_about
from tests.support.memory_per_task import FEW, MANY, check_memory


@processing_stage(name="pass_on")
def pass_on(task: Task) -> Task:
    return task


@processing_stage(name="write")
def write(task: Task) -> FileGroupTask:
    """Return what a writer returns."""
    piece = FileSlice(f"/data/curated/english/part-{task.task_id}.parquet", file_bytes=1_000 + task.data % 1_000)
    return FileGroupTask(data=(piece,), meta={"rows": 100, "bytes": piece.file_bytes})


def numbers(count):
    return (Task(data=number) for number in range(count))


def test_a_stream_holds_nothing_for_a_task():
    def run(count):
        executor = LocalExecutor()
        assert sum(1 for _ in Pipeline("p", stages=[pass_on]).stream(executor, numbers(count))) == count
        return executor

    check_memory(run, left=1, peak=1)


def test_a_result_holds_a_few_bytes_for_a_written_file():
    def run(count):
        result = Pipeline("p", stages=[write]).run(LocalExecutor(), numbers(count))
        assert (len(result), result.rows_out) == (count, 100 * count)
        assert result[count - 1].paths == [f"/data/curated/english/part-{count - 1}.parquet"]
        return result

    check_memory(run, left=40, peak=120)


def test_a_ledger_holds_less_than_a_byte_for_a_source_beside_its_outputs(tmp_path):
    def run(count):
        run_dir = tmp_path / f"{count}-{len(list(tmp_path.iterdir()))}"
        return Pipeline("p", stages=[write]).run(LocalExecutor(), numbers(count), run_dir=run_dir)

    check_memory(run, left=40)


@pytest.mark.parametrize("ids", ["positions", "files"])
def test_resuming_holds_a_few_bytes_for_a_source_that_is_done(tmp_path, ids):
    def run(count):
        run_dir = tmp_path / str(count)
        if not run_dir.exists():
            _write_ledger(run_dir, _sources(ids, count))
        result = Pipeline("p", stages=[write]).run(LocalExecutor(), _sources(ids, count), run_dir=run_dir, resume=True)
        assert (len(result), result.resumed_sources) == (count, count)
        return result

    for count in (FEW, MANY):  # the ledgers are written before anything is measured
        run(count)
    check_memory(run, left=60, peak=200)


def _sources(ids, count):
    """Yield source tasks whose ids are their positions, or are made of their files."""
    if ids == "positions":
        return numbers(count)
    return (FileGroupTask(data=(FileSlice(f"/data/raw/{each}.jsonl", file_bytes=each),)) for each in range(count))


def as_line(fact):
    return json.dumps(fact, separators=(",", ":")).encode() + b"\n"


def _write_ledger(run_dir: Path, sources):
    """Write the ledger of a run that was stopped when it had done everything that it had begun."""
    Pipeline("p", stages=[write]).run(LocalExecutor(), [], run_dir=run_dir)
    ledger = run_dir / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)[:1]
    stats = {"write": {"tasks_in": 1, "rows_in": 1, "process_time_s": 1e-05, "tasks_out": 1, "rows_out": 100}}
    for task in number_sources(sources):
        output = FileGroupTask(
            data=(FileSlice(f"/data/curated/part-{task.task_id}.parquet", file_bytes=10),), task_id=task.task_id
        )
        lines.append(as_line({"begun": task.task_id, **known_about(task)}))
        lines.append(as_line({"done": task.task_id, "outputs": [describe_output(output)], "stats": stats}))
    ledger.write_bytes(b"".join(lines))


def test_the_scheduler_forgets_what_is_done():
    def run(count):
        steps = [StepSpec("read", is_source=False), StepSpec("filter"), StepSpec("write")]
        models = [StepModel(0.01), StepModel(0.02), StepModel(0.01)]
        simulation = Simulation(steps, models, [Node("a", cpus=16)], tasks=count, keep_sources=True)
        assert simulation.run().outputs == count
        return simulation.scheduler

    check_memory(run, left=1)
