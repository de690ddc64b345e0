"""Retries that are interrupted: nothing is lost and nothing comes out twice."""

import shutil
import signal
from collections import Counter

import pytest

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.files.faults import FAULT_POINTS, hooked
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.values.errors import OutputError
from tests.support.retry_work import ONCE, Breakable, Write


def test_an_interrupted_retry_can_be_repeated(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()

    class Interrupting(Write):
        def process(self, task):
            super().process(task)
            signal.raise_signal(signal.SIGINT)

    broken = Pipeline("p", stages=[*work.pipeline.stages[:-1], Interrupting(str(work.folder / "out"))])
    with pytest.raises(KeyboardInterrupt):
        retry_quarantined(work.run_dir, pipeline=broken)
    assert len(work.unresolved()) == 2
    assert work.retry().is_complete
    assert work.output() == ONCE


@pytest.mark.parametrize("point", [point for point in FAULT_POINTS if point.startswith("commit.")])
@pytest.mark.parametrize("keeps_rows", [True, False])
def test_a_retry_that_is_killed_while_it_writes_leaves_nothing_torn(work, point, keeps_rows):
    def crash(name):
        if name == point:
            shutil.copytree(work.folder / "out", work.folder / "disk")
            raise OutputError("crashed")  # which ends a run, unlike anything else that a stage raises

    work.refuse(3, 7)
    work.run(quarantine_payload=keeps_rows)
    work.refuse()
    with hooked(crash), pytest.raises(OutputError):
        work.retry()
    shutil.rmtree(work.folder / "out")
    (work.folder / "disk").rename(work.folder / "out")  # what a killed process would have left
    assert work.retry().is_complete
    assert (work.output(), work.unresolved()) == (ONCE, [])
    assert not any(name.startswith(".") for name in work.files())


@pytest.mark.parametrize("step", ["reopen", "add", "resolve"])
def test_a_retry_that_is_killed_while_it_settles_is_finished_by_the_next(work, monkeypatch, step):
    trouble = work.folder / "trouble"
    trouble.touch()

    def killed(*_):
        raise KeyboardInterrupt

    tasks = [TableBatch(data={"n": list(range(20))})]
    pipeline = Pipeline("p", stages=[Breakable(str(work.refused), str(trouble)), Write(str(work.folder / "out"))])
    pipeline.run(LocalExecutor(max_attempts=1), initial_tasks=tasks, run_dir=work.run_dir)
    trouble.unlink()
    work.refuse(4)
    with monkeypatch.context() as patch:
        patch.setattr(QuarantineFolder, step, killed)
        with pytest.raises(KeyboardInterrupt):
            retry_quarantined(work.run_dir, pipeline=pipeline)
    work.refuse()
    retry_quarantined(work.run_dir, pipeline=pipeline)
    assert (work.output(), work.unresolved()) == (ONCE, [])
    assert not (work.run_dir / "quarantine" / "retry").exists()


def test_a_damaged_payload_is_told_and_the_others_are_retried(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    three, _ = work.unresolved()
    (QuarantineFolder(work.run_dir).payloads / three.payload_file).write_bytes(b"ARROW1")
    result = work.retry()
    assert list(result.order.impossible) == [three.record_id]
    assert work.output() == ONCE - Counter({3: 1})
