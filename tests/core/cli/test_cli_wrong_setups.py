"""Pipelines that run and do nothing useful: refused where that is certain beforehand, else told in the end."""

import json

import pytest

from curator_core import LocalExecutor, Pipeline, Task, processing_stage
from curator_core.authoring.tasks import TableBatch
from curator_core.values.errors import PipelineError
from curator_text import ReadJsonl, WordCount, WriteJsonl


@pytest.fixture
def job(cli, tmp_path):
    """Run a command on a pipeline over some lines."""

    def call(command, stages, *more, lines=('{"text": "one two"}',)):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
        listed = "".join(f"  - {each}\n" for each in stages)
        path = tmp_path / "p.yaml"
        path.write_text(f"version: 1\nstages:\n{listed}executor: local\n".replace("IN", str(tmp_path / "in")))
        return cli(command, path, *more)

    return call


READ = "table.read_jsonl: {paths: IN}"


@pytest.mark.parametrize("command", ["validate", "explain", "run", "preview"])
def test_a_pipeline_without_a_reader_is_refused(job, command):
    outcome = job(command, ["text.word_count", "table.write_jsonl: {path: out}"])
    assert outcome.status == 2
    assert "the first stage, 'text.word_count', takes tasks, and there is no stage before it" in outcome.err
    assert "begin with a reader" in outcome.err
    assert ":3:" in outcome.err


def test_in_python_initial_tasks_stand_for_a_reader():
    pipeline = Pipeline(stages=[WordCount(min_words=1)])
    with pytest.raises(PipelineError, match=r"no stage before it that makes any(.|\n)*initial_tasks"):
        pipeline.run(LocalExecutor())
    with pytest.raises(PipelineError, match="no stage before it"):
        next(pipeline.stream(LocalExecutor()))
    assert pipeline.run(LocalExecutor(), initial_tasks=[TableBatch(data={"text": ["one"]})]).rows_out == 1


def warnings_of(outcome):
    assert outcome.status in (0, 3), outcome.err
    return outcome.json["warnings"]


def test_rows_that_no_stage_writes_are_reported(job):
    outcome = job("run", [READ], "--json")
    (warning,) = warnings_of(outcome)
    assert "1 row came out of the last stage, 'table.read_jsonl', and no stage writes" in warning
    assert "warning: 1 row came out" in job("run", [READ]).out


def test_in_python_results_are_returned_and_need_no_writer(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n')
    assert Pipeline(stages=[ReadJsonl(str(tmp_path))]).run(LocalExecutor()).warnings == []


def test_empty_input_is_reported_with_what_was_read(job, tmp_path):
    (warning,) = warnings_of(job("run", [READ, f"table.write_jsonl: {{path: {tmp_path}/out}}"], "--json", lines=()))
    assert "no rows were read" in warning
    assert f"{str(tmp_path / 'in')!r}" in warning


def test_when_everything_is_dropped_the_stage_and_the_reason_are_named(job, tmp_path):
    stages = [READ, "text.word_count: {min_words: 5}", f"table.write_jsonl: {{path: {tmp_path}/out}}"]
    outcome = job("run", stages, "--json", lines=['{"text": "one"}'] * 3)
    assert outcome.status == 0
    (warning,) = warnings_of(outcome)
    assert warning == "no rows are left of 3: 'text.word_count' dropped 3 (too_few_words: 3)"
    assert f"warning: {warning}" in job("run", stages, lines=['{"text": "one"}'] * 3).out


def test_when_everything_is_quarantined_this_is_said(job, tmp_path):
    stages = [READ, f"table.write_jsonl: {{path: {tmp_path}/out}}"]
    outcome = job("run", stages, "--json", lines=["torn", "torn"])
    assert outcome.status == 3
    assert warnings_of(outcome) == ["no rows were read: 2 failed in 'table.read_jsonl' (InvalidJson: 2)"]


def test_warnings_are_in_the_run_directory_and_told_again_by_a_resume(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"text": "one"}\n' * 3)
    stages = [ReadJsonl(str(tmp_path / "in")), WordCount(min_words=5), WriteJsonl(str(tmp_path / "out"))]
    expected = ["no rows are left of 3: 'text.word_count' dropped 3 (too_few_words: 3)"]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2), run_dir=tmp_path / "run")
    assert result.warnings == expected
    assert json.loads((tmp_path / "run" / "result.json").read_text())["warnings"] == expected
    again = Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / "run", resume=True)
    assert again.was_finished
    assert again.warnings == expected


def test_a_last_stage_that_returns_nothing_is_a_writer_of_its_own():
    seen = []

    @processing_stage(name="sink")
    def sink(task: Task) -> None:
        seen.append(task.data)

    assert Pipeline(stages=[sink]).run(LocalExecutor(), initial_tasks=[Task(data=1)]).warnings == []
    assert seen == [1]


def test_a_stage_in_the_middle_that_passes_nothing_on_is_named():
    @processing_stage(name="lose")
    def lose(task: Task) -> None:
        return None

    @processing_stage(name="next")
    def follow(task: Task) -> Task:
        return task

    result = Pipeline(stages=[lose, follow]).run(LocalExecutor(), initial_tasks=[Task(data=1)])
    assert result.warnings == ["no rows are left of 1: 'lose' passed none of its 1 on"]
    assert Pipeline(stages=[follow]).run(LocalExecutor(), initial_tasks=[]).warnings == ["no tasks were given"]
