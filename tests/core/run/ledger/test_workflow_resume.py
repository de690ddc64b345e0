"""A workflow goes on where it stopped: finished steps are not run again."""

import pytest

from curator_core import Pipeline, Workflow
from curator_core.pipelines.workflow import WorkflowStep
from curator_core.values.errors import ConfigError, StageError
from curator_text import ReadJsonl, WriteJsonl


class Log:
    def __init__(self) -> None:
        self.calls = []
        self.is_broken = False


def workflow(corpus, log, *, min_words=3):
    def count(results):
        log.calls.append("count")
        return {"files": len(results["clean"].outputs)}

    def copy(results):
        log.calls.append("copy")
        return Pipeline("copy", stages=[ReadJsonl(str(corpus.output)), WriteJsonl(str(corpus.root / "copy"))])

    def publish(results):
        log.calls.append("publish")
        if log.is_broken:
            raise OSError("the network is down")
        return object()  # cannot be recorded

    steps = [
        WorkflowStep("clean", corpus.pipeline(min_words=min_words)),
        WorkflowStep("count", count),
        WorkflowStep("copy", copy),
        WorkflowStep("publish", publish),
    ]
    return Workflow("w", steps)


def test_finished_steps_are_skipped(corpus):
    log = Log()
    log.is_broken = True
    with pytest.raises(StageError, match="network is down"):
        workflow(corpus, log).run(run_dir=corpus.run_dir)
    assert log.calls == ["count", "copy", "publish"]
    written = {path: path.stat().st_mtime_ns for path in corpus.root.rglob("part-*")}
    log.calls.clear()
    log.is_broken = False
    result = workflow(corpus, log).run(run_dir=corpus.run_dir, resume=True)
    assert log.calls == ["copy", "publish"]  # which pipeline a function returns is found out by calling it
    assert result.skipped == {"clean", "count", "copy"}
    assert result["count"] == {"files": len(result["clean"].outputs)}
    assert {path: path.stat().st_mtime_ns for path in corpus.root.rglob("part-*")} == written


def test_after_a_step_that_had_work_to_do_nothing_is_taken_on_trust(corpus):
    log = Log()
    first = workflow(corpus, log).run(run_dir=corpus.run_dir)
    log.calls.clear()
    (corpus.input / "9.jsonl").write_text('{"text": "a new document of six words"}\n' * 200)
    result = workflow(corpus, log).run(run_dir=corpus.run_dir, resume=True)
    assert log.calls == ["count", "copy", "publish"]
    assert result["count"]["files"] > first["count"]["files"]
    assert result["copy"].rows_out == result["clean"].rows_out > first["clean"].rows_out


def test_a_fresh_start_forgets_what_steps_returned(corpus):
    log = Log()
    workflow(corpus, log).run(run_dir=corpus.run_dir)
    log.calls.clear()
    workflow(corpus, log).run(run_dir=corpus.run_dir)
    assert log.calls == ["count", "copy", "publish"]


def test_a_workflow_is_resumed_from_a_run_directory(corpus):
    with pytest.raises(ConfigError, match="continued from its run directory"):
        workflow(corpus, Log()).run(resume=True)
