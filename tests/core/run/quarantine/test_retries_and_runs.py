"""Retries before the run is over, and runs after a retry: nothing is lost and nothing comes out twice."""

from collections import Counter

import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.files.faults import hooked
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.ledger.opening import only_run
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.values.errors import LedgerError, OutputError
from tests.support.retry_work import ONCE, Write


def stop_before_the_third_file(work):
    """Run until the disk is full, with a row in quarantine whose source is not done."""
    visits = Counter()

    def fail(point):
        visits[point] += 1
        if point == "commit.begin" and visits[point] == 3:
            raise OSError(28, "No space left on device")

    with hooked(fail), pytest.raises(Exception, match="No space left"):
        work.run()


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_unfinished_run_is_resumed_before_its_quarantine_is_retried(work, dry_run):
    work.refuse(0, 10)
    stop_before_the_third_file(work)
    work.refuse()
    before = work.files()
    with pytest.raises(LedgerError, match="not finished") as refused:
        work.retry(dry_run=dry_run)
    assert "--resume" in refused.value.fix
    assert work.files() == before
    work.refuse(0, 10)
    work.run(resume=True)
    work.refuse()
    assert work.retry().is_complete
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_a_run_that_is_under_way_is_left_alone(work):
    work.refuse(3)
    work.run()
    work.refuse()
    with only_run(work.run_dir), pytest.raises(LedgerError, match="another run is at work"):
        work.retry()
    assert work.retry().is_complete


def test_a_run_that_starts_afresh_replaces_what_retries_wrote(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    work.retry()
    assert work.output() == ONCE
    work.run()
    assert work.output() == ONCE
    assert not any("-q" in name for name in work.files())


def test_sources_that_are_redone_replace_what_retries_wrote_of_them(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    work.retry()
    (work.folder / "in" / "0.jsonl").touch()
    work.run(resume="changed")
    assert work.output() == ONCE
    assert sum("-q" in name for name in work.files()) == 1, "7 is of a file that did not change"


def test_a_row_that_was_resolved_and_fails_when_its_source_is_redone_is_not_forgotten(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    work.retry()
    (work.folder / "in" / "0.jsonl").touch()
    work.refuse(3)
    work.run(resume="changed")
    assert work.output() == ONCE - Counter({3: 1})
    assert len(work.unresolved()) == 1
    work.refuse()
    work.retry()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def interrupt_a_retry_while_it_settles(work, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(QuarantineFolder, "resolve", killed)
        with pytest.raises(KeyboardInterrupt):
            work.retry()


def test_a_run_that_starts_afresh_replaces_what_an_interrupted_retry_wrote(work):
    work.refuse(3, 7)
    work.run()
    work.refuse()

    def stop(point):
        if point == "commit.folder_synced":
            raise OutputError("stopped")

    with hooked(stop), pytest.raises(OutputError):
        work.retry()
    assert any("-q" in name for name in work.files())
    work.run()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_what_a_retry_had_decided_is_not_said_of_a_run_that_starts_afresh(work, monkeypatch):
    work.refuse(3)
    work.run()
    work.refuse()
    interrupt_a_retry_while_it_settles(work, monkeypatch)
    work.refuse(3)
    work.run()
    assert work.output() == ONCE - Counter({3: 1})
    assert work.retry().is_complete is False
    assert len(work.unresolved()) == 1
    work.refuse()
    work.retry()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_what_a_retry_had_decided_is_carried_out_before_sources_are_redone(work, monkeypatch):
    work.refuse(3, 7)
    work.run()
    work.refuse()
    interrupt_a_retry_while_it_settles(work, monkeypatch)
    (work.folder / "in" / "0.jsonl").touch()
    work.refuse(3)
    work.run(resume="changed")
    work.refuse()
    work.retry()
    assert (work.output(), work.unresolved()) == (ONCE, [])


def test_a_pipeline_whose_output_is_no_file_can_be_retried_when_it_came_to_its_end(work):
    stages = [stage for stage in work.pipeline.stages if not isinstance(stage, Write)]
    work.refuse(3)
    Pipeline("p", stages=stages).run(LocalExecutor(max_attempts=1), run_dir=work.run_dir)
    work.refuse()
    assert retry_quarantined(work.run_dir, pipeline=Pipeline("p", stages=stages)).is_complete
