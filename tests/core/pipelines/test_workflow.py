import pytest

from curator_core import Pipeline, ProcessingStage, Task, Workflow
from curator_core.pipelines.workflow import WorkflowStep
from curator_core.values.errors import CuratorError, StageError, UnknownNameError


class Add(ProcessingStage):
    def __init__(self, amount: int = 1) -> None:
        self.amount = amount

    def process(self, task):
        return Task(data=(task.data or 0) + self.amount)


def test_steps_run_in_order_and_see_what_came_before(tmp_path):
    workflow = Workflow(
        "w",
        steps=[
            WorkflowStep("first", Pipeline("a", stages=[Add(2)])),
            WorkflowStep("look", lambda results: results["first"][0].data),
            WorkflowStep("second", lambda results: Pipeline("b", stages=[Add(results["look"] * 10)])),
        ],
    )
    result = workflow.run(run_dir=tmp_path)
    assert (result["look"], result["second"][0].data) == (2, 20)
    assert (tmp_path / "00-first" / "result.json").exists()
    assert (tmp_path / "02-second" / "result.json").exists()
    assert "== second" in result.report()
    with pytest.raises(UnknownNameError, match="did you mean 'second'"):
        result["secnd"]


def test_a_failing_step_is_named():
    workflow = Workflow("w", steps=[WorkflowStep("divide", lambda results: 1 // 0)])
    with pytest.raises(StageError, match=r"step 'divide' failed: ZeroDivisionError"):
        workflow.run()


def test_step_names_are_unique():
    with pytest.raises(CuratorError, match="two steps called 'a'"):
        Workflow("w", steps=[WorkflowStep("a", lambda r: 1), WorkflowStep("a", lambda r: 2)]).run()
