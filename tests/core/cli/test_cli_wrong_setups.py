"""Pipelines that run and do nothing useful: refused where that is certain beforehand, else told in the end."""

import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.errors import PipelineError
from curator_core.tasks import TableBatch
from curator_text import WordCount


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


@pytest.mark.parametrize("command", ["validate", "explain", "run", "preview"])
def test_a_pipeline_without_a_reader_is_refused(job, command):
    outcome = job(command, ["text.word_count", "text.write_jsonl: {path: out}"])
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
