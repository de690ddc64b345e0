"""What a stage does in the driver when a run has ended."""

import json

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, Task
from curator_core.values.errors import StageError


class Tally(ProcessingStage[Task, Task]):
    """Leaves a file for each task, and counts them at the end."""

    def __init__(self, folder) -> None:
        self.folder = folder

    def process(self, task):
        if task.data == "bad":
            raise ValueError("bad")
        (self.folder / f"{task.task_id}.part").touch()
        return task

    def finish(self, run):
        (self.folder / "total").write_text(str(len(list(self.folder.glob("*.part")))))
        (self.folder / "run").write_text(f"{run.name} {run.run_dir} {run.succeeded}")


class CannotFinish(ProcessingStage[Task, Task]):
    def __init__(self, reason="no space") -> None:
        self.reason = reason

    def process(self, task):
        return task

    def finish(self):
        raise OSError(self.reason)


def tasks(*values):
    return [Task(data=value) for value in values]


def test_a_stage_finishes_in_the_driver_when_all_is_done(tmp_path):
    pipeline = Pipeline("counting", stages=[Tally(tmp_path)])
    pipeline.run(LocalExecutor(threads=2), initial_tasks=tasks(1, 2, 3), run_dir=tmp_path / "a")
    assert (tmp_path / "total").read_text() == "3"
    assert (tmp_path / "run").read_text() == f"counting {tmp_path / 'a'} True"


def test_a_stage_finishes_what_a_failing_run_has_done(tmp_path):
    with pytest.raises(StageError, match="bad"):
        Pipeline(stages=[Tally(tmp_path)]).run(LocalExecutor(on_error="raise"), initial_tasks=tasks(1, "bad"))
    assert (tmp_path / "total").read_text() == "1"
    assert (tmp_path / "run").read_text().endswith(" None False")


def test_a_stage_that_cannot_finish_fails_the_run_after_all_others_had_their_turn(tmp_path, caplog):
    run_dir = tmp_path / "run"
    with pytest.raises(StageError, match=r"stage 'CannotFinish' could not finish: OSError: no space") as caught:
        Pipeline(stages=[CannotFinish(), Tally(tmp_path)]).run(
            LocalExecutor(), initial_tasks=tasks(1, 2), run_dir=run_dir
        )
    assert isinstance(caught.value.__cause__, OSError)
    assert (tmp_path / "total").read_text() == "2"
    assert json.loads((run_dir / "result.json").read_text())["stages"][0]["tasks_out"] == 2
    assert "could not finish" not in caplog.text  # whoever catches the error decides where it is shown


def test_all_stages_that_cannot_finish_are_in_the_error():
    stages = [CannotFinish(), CannotFinish("no permission").with_(name="other")]
    with pytest.raises(StageError) as caught:
        Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=tasks(1))
    assert "stage 'CannotFinish' could not finish: OSError: no space" in str(caught.value)
    assert "stage 'other' could not finish: OSError: no permission" in str(caught.value)


def test_the_failure_of_a_run_is_not_hidden_by_a_stage_that_cannot_finish(tmp_path, caplog):
    with pytest.raises(StageError, match="failed on task 0: ValueError: bad"):
        Pipeline(stages=[CannotFinish(), Tally(tmp_path)]).run(
            LocalExecutor(on_error="raise"), initial_tasks=tasks("bad")
        )
    assert "stage 'CannotFinish' could not finish: OSError: no space" in caplog.text  # else nobody would know
