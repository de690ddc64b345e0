"""What a stage counts itself reaches the run's statistics, once per successful call."""

from dataclasses import dataclass, field

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, StreamingExecutor, TableBatch
from curator_core.authoring.recording import report


@dataclass
class Fetch(ProcessingStage[TableBatch, TableBatch]):
    """Counts requests, and fails the first time."""

    _calls: list[int] = field(default_factory=list, init=False)

    name = "fetch"

    def process(self, task):
        report().count(requests=task.num_rows, cost=0.25)
        self._calls.append(1)
        if len(self._calls) == 1:
            raise OSError("once")
        return task


@pytest.mark.parametrize("kind", ["local", "streaming"])
def test_counters_of_a_stage_are_in_the_result_and_a_failed_call_counts_nothing(kind, request, tmp_path):
    if kind == "streaming":
        request.getfixturevalue("ray_session")
    executor = LocalExecutor() if kind == "local" else StreamingExecutor()
    batches = [TableBatch(data={"n": [1, 2, 3]}), TableBatch(data={"n": [4]})]
    stage = Fetch().with_(workers=1)
    result = Pipeline(stages=[stage]).run(executor, initial_tasks=batches, run_dir=tmp_path / "run")
    assert result.stats["fetch"].counters == {"requests": 4, "cost": 0.5}
    assert result.to_dict()["stages"][0]["counters"] == {"cost": 0.5, "requests": 4}
    assert "requests: 4" in result.report()


def test_outside_a_run_counters_go_nowhere():
    report().count(requests=1)
    assert not report().counters
