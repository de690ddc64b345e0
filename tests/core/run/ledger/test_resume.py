"""A run that is continued ends as one that was never interrupted, in this process and on every kind of change."""

import json
import logging
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator_core import EmptyTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task, processing_stage
from curator_core.authoring.list_files import ListFiles
from curator_core.call.runner import StageRunner
from curator_core.executors.ray.shipping import dumps
from curator_core.pipelines.pipeline_file import load_pipeline
from curator_core.run.ledger.ledger_file import LedgerFile, header, line_of, read_ledger
from curator_core.run.ledger.run_ledger import RunLedger
from curator_core.run.state import RunState
from curator_core.values.errors import ConfigError, LedgerError, ResumeError, StageError
from curator_core.values.redaction import hide
from curator_table import ListTables
from curator_text import ReadJsonl, WriteJsonl


def age(path):
    """Let a file look changed although its size is the same."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fraction=st.floats(0, 1), threads=st.integers(1, 2))
def test_from_any_beginning_of_its_ledger_a_run_ends_the_same(corpus, fraction, threads):
    if not corpus.ledger.exists():
        corpus.expected = corpus.reference()
        corpus.run()
    data = corpus.ledger.read_bytes()
    corpus.ledger.write_bytes(data[: int(fraction * len(data))])
    before = read_ledger(corpus.ledger)
    for path in corpus.output.iterdir():
        if before is None or path.name.split("-")[1].split(".")[0] not in before.done:
            path.unlink()
    result = corpus.run(LocalExecutor(threads=threads), resume=True)
    corpus.check(result, corpus.expected)
    assert result.resumed_sources == (len(before.done) if before else 0)


def test_resuming_a_finished_run_reads_nothing_and_says_so(corpus, caplog):
    first = corpus.run()
    written = {path: path.stat().st_mtime_ns for path in corpus.output.iterdir()}
    for path in corpus.input.iterdir():
        path.chmod(0)  # for all but root, reading would fail
    caplog.set_level(logging.INFO)
    again = corpus.run(resume=True)
    assert again.was_finished
    assert (again.outputs, again.rows_out, again.dropped) == (first.outputs, first.rows_out, first.dropped)
    assert [record.message for record in again.quarantined] == [record.message for record in first.quarantined]
    assert "the run is finished, all" in caplog.text
    assert {path: path.stat().st_mtime_ns for path in corpus.output.iterdir()} == written


class Watched(ProcessingStage[TableBatch, TableBatch]):
    """Notes the files it gets rows of, and fails on one of them."""

    def __init__(self, log: str, fail_on: str = "") -> None:
        self.log = log
        self.fail_on = fail_on

    def process(self, task):
        name = os.path.basename(task.source[0])  # noqa: PTH119
        if name == self.fail_on and not os.path.exists(f"{self.log}.mended"):  # noqa: PTH110
            raise ValueError("not yet")
        with open(self.log, "a") as file:  # noqa: PTH123
            file.write(f"{name}\n")
        return task


def test_finished_sources_are_not_read_again(corpus):
    log = corpus.root / "log"

    def run(**options):
        reader = ReadJsonl(str(corpus.input), block_bytes=1_300)  # a source task for each file
        watched = Watched(str(log), "4.jsonl").with_(on_error="raise", max_attempts=1)
        pipeline = Pipeline("p", stages=[reader, watched, WriteJsonl(str(corpus.output))])
        return pipeline.run(run_dir=corpus.run_dir, **options)

    with pytest.raises(StageError, match="not yet"):
        run()
    seen = log.read_text().split()
    assert seen == [f"{number}.jsonl" for number in range(4)]
    (corpus.root / "log.mended").touch()
    result = run(resume=True)
    assert set(log.read_text().split()[len(seen) :]) == {f"{number}.jsonl" for number in range(4, 8)}
    assert result.resumed_sources == 4


def test_without_a_ledger_resume_is_a_first_run(corpus, caplog):
    caplog.set_level(logging.INFO)
    result = corpus.run(resume=True)
    assert "holds no run to resume" in caplog.text
    corpus.check(result, corpus.reference())


def test_a_fresh_start_over_an_unfinished_run_says_so(corpus, caplog):
    corpus.run()
    lines = corpus.ledger.read_text().splitlines()
    corpus.ledger.write_text("\n".join(lines[:-1]) + "\n")
    (corpus.run_dir / "dropped" / "text.word_count" / "part-gone.parquet").touch()
    result = corpus.run()
    assert "holds an unfinished run" in caplog.text
    assert result.resumed_sources == 0
    corpus.check(result, corpus.reference())


def test_another_pipeline_is_refused_with_what_differs(corpus):
    corpus.run()
    before = corpus.ledger.read_bytes()
    with pytest.raises(ResumeError, match=r"stage 'text.word_count': min_words 3 → 4"):
        corpus.pipeline(min_words=4).run(run_dir=corpus.run_dir, resume=True)
    renamed = corpus.pipeline()
    renamed.stages[1] = renamed.stages[1].with_(name="longer")
    with pytest.raises(ResumeError, match=r"stage 'text.word_count' is gone\n.*stage 'longer' is new"):
        renamed.run(run_dir=corpus.run_dir, resume=True)
    assert corpus.ledger.read_bytes() == before


def test_the_order_of_stages_and_the_code_of_functions_count(tmp_path):
    @processing_stage(name="increment")
    def increment(task):
        return task.with_data(task.data + 1)

    @processing_stage(name="double")
    def double(task):
        return task.with_data(task.data * 2)

    tasks = [Task(data=1)]
    Pipeline("p", stages=[increment, double]).run(initial_tasks=tasks, run_dir=tmp_path)
    with pytest.raises(ResumeError, match="another order: increment, double → double, increment"):
        Pipeline("p", stages=[double, increment]).run(initial_tasks=tasks, run_dir=tmp_path, resume=True)

    @processing_stage(name="double")
    def double(task):
        return task.with_data(task.data + task.data + 1)

    with pytest.raises(ResumeError, match=r"stage 'double': code source [0-9a-f]+ → source [0-9a-f]+"):
        Pipeline("p", stages=[increment, double]).run(initial_tasks=tasks, run_dir=tmp_path, resume=True)


def test_another_version_of_a_stage_is_another_stage(corpus, monkeypatch):
    corpus.run()
    monkeypatch.setattr("curator_text.WordCount.version", "2")
    with pytest.raises(ResumeError, match=r"stage 'text.word_count': version 1 → 2"):
        corpus.run(resume=True)


def test_how_stages_run_may_change(corpus):
    corpus.run()
    pipeline = corpus.pipeline()
    pipeline.stages = [stage.with_(batch_size=3, max_attempts=7, on_error="skip") for stage in pipeline.stages]
    assert pipeline.run(run_dir=corpus.run_dir, resume=True).was_finished


def test_a_changed_pipeline_is_redone_when_asked_for(corpus, caplog):
    corpus.run()
    result = corpus.pipeline(min_words=5).run(run_dir=corpus.run_dir, resume="changed")
    assert "min_words 3 → 5" in caplog.text
    corpus.check(result, corpus.reference(min_words=5))
    assert corpus.pipeline(min_words=5).run(run_dir=corpus.run_dir, resume=True).was_finished


@pytest.mark.parametrize("change", ["appended", "touched", "removed", "large"])
def test_changed_input_is_refused_by_name_and_redone_when_asked_for(corpus, change):
    corpus.run()
    path = corpus.input / ("5.jsonl" if change == "large" else "6.jsonl")
    if change in ("appended", "large"):
        path.write_text(path.read_text() + '{"text": "one more line of five words"}\n')
    elif change == "touched":
        age(path)
    else:
        path.unlink()
    expected = {
        "appended": r"6\.jsonl has changed: [\d,]+ → [\d,]+ bytes",
        "large": r"5\.jsonl has changed: [\d,]+ → [\d,]+ bytes",
        "touched": r"6\.jsonl has changed: modified since, [\d,]+ bytes as before",
        "removed": r"6\.jsonl is gone",
    }[change]
    with pytest.raises(ResumeError, match=expected) as refused:
        corpus.run(resume=True)
    assert "0.jsonl" not in str(refused.value)
    result = corpus.run(resume="changed")
    assert result.resumed_sources > 0
    corpus.check(result, corpus.reference())


def test_new_files_are_new_work(corpus):
    corpus.run()
    (corpus.input / "9.jsonl").write_text('{"text": "a new document of six words"}\n' * 200)
    result = corpus.run(resume=True)
    assert not result.was_finished
    assert result.resumed_sources > 0
    corpus.check(result, corpus.reference())


def test_a_new_file_that_moves_the_borders_of_groups_doubles_nothing(corpus, caplog):
    corpus.run()
    (corpus.input / "00.jsonl").write_text('{"text": "the first document of all"}\n' * 20)
    result = corpus.run(resume=True)
    assert "grouped differently" in caplog.text
    corpus.check(result, corpus.reference())


def add_link(corpus):
    """Add a link out of the input folder, which is quarantined."""
    (corpus.root / "elsewhere.jsonl").write_text('{"text": "not part of the corpus"}\n')
    (corpus.input / "9.jsonl").symlink_to(corpus.root / "elsewhere.jsonl")


def test_a_run_over_a_folder_with_a_link_out_of_it_is_resumed(corpus):
    add_link(corpus)
    first = corpus.run()
    assert [record.error_type for record in first.quarantined] == ["UnreadableFile", "InvalidJson"]
    facts = corpus.ledger.read_text().splitlines(keepends=True)
    corpus.ledger.write_text("".join(facts[: len(facts) // 2]))
    result = corpus.run(resume=True)
    assert result.resumed_sources > 0
    assert result.outputs == first.outputs
    assert {record.record_id for record in result.quarantined} == {record.record_id for record in first.quarantined}
    assert result.quarantined_count == 2


def test_resuming_a_finished_run_keeps_the_records_of_its_listing(corpus):
    add_link(corpus)
    first = corpus.run()
    records = (corpus.run_dir / "quarantine" / "records.jsonl").read_bytes()
    for _ in range(2):
        again = corpus.run(resume=True)
        assert again.was_finished
        assert [record.record_id for record in again.quarantined] == [record.record_id for record in first.quarantined]
    assert (corpus.run_dir / "quarantine" / "records.jsonl").read_bytes() == records


@pytest.mark.parametrize("policy", ["skip", "quarantine"])
def test_a_listing_that_fails_is_not_taken_for_an_empty_one(corpus, monkeypatch, policy):
    listing = ListTables(str(corpus.input), format="jsonl").with_(on_error=policy)
    pipeline = Pipeline("list", stages=[listing])
    pipeline.run(run_dir=corpus.run_dir)
    before = corpus.ledger.read_bytes()

    def fail(self, task):
        raise PermissionError("the folder is closed")

    monkeypatch.setattr(ListFiles, "process", fail)
    with pytest.raises(StageError, match="the folder is closed"):
        pipeline.run(run_dir=corpus.run_dir, resume="changed")
    assert corpus.ledger.read_bytes() == before


def test_output_that_is_gone_is_noticed_and_made_again_when_asked_for(corpus, caplog):
    expected = corpus.reference()
    corpus.run()
    lost = sorted(corpus.output.iterdir())[2]
    lost.unlink()
    unchanged = corpus.run(resume=True)
    assert unchanged.was_finished  # it may have been moved on purpose
    assert f"{lost} and perhaps others" in caplog.text
    assert str(lost) not in unchanged.outputs
    assert len(unchanged.outputs) == len(expected[1]) - 1
    (warning,) = unchanged.warnings
    assert f"{lost} and perhaps others of 1 finished source tasks are not there any more" in warning
    caplog.clear()
    result = corpus.run(resume="changed")
    assert f"{lost} is gone" in caplog.text
    assert result.resumed_sources == len(expected[1]) - 1
    corpus.check(result, expected)


def test_output_that_is_gone_is_not_listed_by_a_run_that_goes_on(corpus):
    corpus.run()
    lost = sorted(corpus.output.iterdir())[2]
    lost.unlink()
    (corpus.input / "9.jsonl").write_text('{"text": "one two three four"}\n' * 200)
    result = corpus.run(resume=True)
    assert not result.was_finished
    assert str(lost) not in result.outputs
    assert {Path(path).name for path in result.outputs} == {path.name for path in corpus.output.iterdir()}
    assert str(lost) in result.warnings[0]
    assert json.loads((corpus.run_dir / "result.json").read_text())["outputs"] == result.outputs
    assert corpus.run(resume="changed").warnings == []
    assert lost.exists()


def test_what_was_half_done_for_input_that_changed_is_cleared_away(corpus):
    corpus.run()
    facts = [json.loads(line) for line in corpus.ledger.read_text().splitlines()]
    *_, last = [fact["begun"] for fact in facts if "begun" in fact]
    kept = [fact for fact in facts if fact.get("done") != last and "finished" not in fact]
    corpus.ledger.write_text("".join(json.dumps(fact) + "\n" for fact in kept))
    (corpus.output / f".part-{last}-0.jsonl.tmp-1-abcd").write_text("torn")
    (corpus.output / ".part-of-another-run.jsonl.tmp-1-abcd").write_text("not ours")
    age(corpus.input / "7.jsonl")
    result = corpus.run(resume=True)
    (corpus.output / ".part-of-another-run.jsonl.tmp-1-abcd").unlink()
    corpus.check(result, corpus.reference())


def test_a_damaged_ledger_is_an_error_for_resume_and_replaced_by_a_fresh_start(corpus, caplog):
    corpus.run()
    data = corpus.ledger.read_bytes()
    corpus.ledger.write_bytes(data[:50] + b"\xff\n" + data[60:])
    with pytest.raises(LedgerError, match="damaged in line"):
        corpus.run(resume=True)
    corpus.check(corpus.run(), corpus.reference())


def test_two_runs_cannot_share_a_run_directory(corpus):
    from curator_core.run.directory import RunDirectory
    from curator_core.run.ledger.opening import open_ledger

    with (
        open_ledger(RunDirectory(corpus.run_dir), corpus.pipeline().build()),
        pytest.raises(LedgerError, match="another run is at work"),
    ):
        corpus.run(resume=True)
    corpus.run()


def test_a_limited_run_keeps_no_ledger(corpus):
    corpus.run()
    corpus.run(LocalExecutor(limit=10))  # which leaves parts of files
    assert not corpus.ledger.exists()
    with pytest.raises(ConfigError, match="with a limit cannot be continued"):
        corpus.run(LocalExecutor(limit=10), resume=True)


def test_resume_takes_three_values(corpus):
    with pytest.raises(ConfigError, match="resume is 'chnaged'"):
        corpus.run(resume="chnaged")


class Square(ProcessingStage[Task, Task]):
    def process(self, task):
        return [Task(data=task.data**2), Task(data=-task.data)]


def squares(run_dir, numbers, *, as_iterator=False, **options):
    tasks = [Task(data=number) for number in numbers]
    initial = iter(tasks) if as_iterator else tasks
    return Pipeline("squares", stages=[Square()]).run(initial_tasks=initial, run_dir=run_dir, **options)


@pytest.mark.parametrize("as_iterator", [False, True])
def test_initial_tasks_are_told_apart_by_place_and_content(tmp_path, as_iterator):
    result = squares(tmp_path, [1, 2, 3])
    expected = [1, -1, 4, -2, 9, -3]
    assert [task.data for task in result] == expected
    again = squares(tmp_path, [1, 2, 3], resume=True, as_iterator=as_iterator)
    assert [task.data for task in again] == expected
    assert again.resumed_sources == 3
    more = squares(tmp_path, [1, 2, 3, 4], resume=True, as_iterator=as_iterator)
    assert [task.data for task in more] == [*expected, 16, -4]
    with pytest.raises(ResumeError, match="initial task 1 is"):
        squares(tmp_path, [1, 5, 3, 4], resume=True, as_iterator=as_iterator)
    redone = squares(tmp_path, [1, 5, 3, 4], resume="changed")
    assert [task.data for task in redone] == [1, -1, 25, -5, 9, -3, 16, -4]
    assert redone.resumed_sources == 3


def test_the_empty_task_may_be_spelled_out(corpus):
    corpus.run(initial_tasks=[EmptyTask()])
    facts = corpus.ledger.read_text().splitlines(keepends=True)
    corpus.ledger.write_text("".join(facts[: len(facts) // 2]))
    result = corpus.run(initial_tasks=[EmptyTask()], resume=True)
    assert result.resumed_sources > 0
    corpus.check(result, corpus.reference())
    age(corpus.input / "0.jsonl")
    with pytest.raises(ResumeError, match=r"0\.jsonl has changed"):
        corpus.run(initial_tasks=[EmptyTask()], resume=True)


def test_outputs_that_cannot_be_described_are_made_again(tmp_path, corpus):
    pipeline = Pipeline("read", stages=[ReadJsonl(str(corpus.input))])
    first = pipeline.run(run_dir=tmp_path / "r")
    again = pipeline.run(run_dir=tmp_path / "r", resume=True)
    assert again.resumed_sources == 0
    assert not again.was_finished
    assert again.rows_out == first.rows_out > 0


TAGGED = """
version: 1
name: tagged
stages:
  - table.read_jsonl: {paths: "${IN}"}
  - table.add_id: {id_prefix: "${TAG}", id_column: label}
  - table.write_jsonl: {path: "${OUT}"}
"""


def test_the_value_of_a_variable_that_is_part_of_a_path_is_not_hidden_and_does_not_prevent_a_resume(corpus):
    output = corpus.root / "exp-2024-b" / "out"
    variables = {"IN": corpus.input, "OUT": output, "TAG": "exp-2024-b"}
    first = load_pipeline(TAGGED, variables=variables).pipeline.run(run_dir=corpus.run_dir)
    assert json.loads((corpus.run_dir / "result.json").read_text())["outputs"] == first.outputs != []
    assert load_pipeline(TAGGED, variables=variables).pipeline.run(run_dir=corpus.run_dir, resume=True).was_finished


def test_a_value_that_is_hidden_for_another_pipeline_does_not_prevent_a_resume(corpus):
    corpus.output = corpus.root / "corpus-2024-b"
    hide("corpus-2024-b", is_credential=False)
    corpus.run()
    assert corpus.run(resume=True).was_finished


def test_outputs_whose_paths_hold_a_credential_are_not_recorded_and_the_log_says_so(corpus, caplog):
    corpus.output = corpus.root / "credential-2024-b"
    hide("credential-2024-b", is_credential=True)
    corpus.run()
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "cannot be recorded as done, because an output holds a secret" in warning
    assert "credential-2024-b" not in corpus.ledger.read_text()
    assert corpus.run(resume=True).resumed_sources == 0


def test_listing_alone_can_be_resumed_and_never_removes_its_files(corpus):
    pipeline = Pipeline("list", stages=[ListFiles(str(corpus.input))])
    first = pipeline.run(run_dir=corpus.run_dir)
    age(corpus.input / "2.jsonl")
    result = pipeline.run(run_dir=corpus.run_dir, resume="changed")
    assert sorted(result.outputs) == sorted(first.outputs) == sorted(str(each) for each in corpus.input.iterdir())


def test_files_listed_twice_are_two_sources(corpus):
    class Twice(ListFiles):
        def process(self, task):
            for each in super().process(task):
                yield each
                yield each

    class Same(ProcessingStage[Task, Task]):
        def process(self, task):
            return task

    pipeline = Pipeline("twice", stages=[Twice(str(corpus.input)), Same()])
    result = pipeline.run(run_dir=corpus.run_dir)
    assert len({task.task_id for task in result}) == len(result) == len(read_ledger(corpus.ledger).done)
    assert pipeline.run(run_dir=corpus.run_dir, resume=True).was_finished


class MakesLock(ProcessingStage[EmptyTask, Task]):
    """A source task that cannot be pickled, as Ray Data must."""

    def process(self, task):
        return Task(data=threading.Lock())


@pytest.mark.parametrize(("on_error", "done"), [("raise", 0), ("quarantine", 1)])
def test_a_source_that_cannot_be_sent_is_done_when_it_is_in_quarantine_not_when_it_ends_the_run(
    tmp_path, on_error, done
):
    ledger = tmp_path / "ledger.jsonl"
    state = RunState(tmp_path)
    state.ledger = RunLedger(LedgerFile(ledger, [line_of(header({}))]))
    state.ledger.start(2)
    runner = StageRunner(MakesLock(), state, on_error=on_error, progress=state.progress_of(0))
    with suppress(StageError):
        assert list(runner.portable(runner.run([EmptyTask()]), dumps)) == []
    state.ledger.commit()
    state.ledger.close()
    assert (len(read_ledger(ledger).done), state.quarantined_count) == (done, done)
