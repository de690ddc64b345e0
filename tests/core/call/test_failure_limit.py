"""When a run has failed on too much to continue."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.authoring.recording import BadRecord, report
from curator_core.call.failure_limit import MIN_ROWS, too_many_failures
from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.config.executors import make_executor
from curator_core.pipelines.pipeline_file import load_pipeline
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError, TooManyFailuresError
from curator_core.values.stats import StageStats


class NoOdds(ProcessingStage[Task, Task]):
    def process(self, task):
        if task.data % 2:
            raise ValueError("odd") if task.data % 4 == 1 else KeyError("very odd")
        return task


@given(st.floats(0, 1), st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_limit_is_a_fraction_of_at_least_some_rows(fraction, failed, seen):
    seen = max(seen, failed)

    def is_exceeded(failed, seen):
        return too_many_failures(StageStats("s", rows_in=seen, failed=Counter(odd=failed)), fraction) is not None

    assert is_exceeded(failed, seen) == (failed > fraction * max(seen, MIN_ROWS))
    if is_exceeded(failed, seen):  # more failures never make it better
        assert is_exceeded(failed + 1, seen + 1)


@pytest.mark.parametrize("fraction", [-0.1, 1.5, 5, float("nan")])
def test_a_fraction_outside_0_to_1_is_refused(fraction):
    with pytest.raises(ConfigError, match="max_failed_fraction must be between 0 and 1"):
        LocalExecutor(max_failed_fraction=fraction)


def test_the_error_names_the_stage_and_the_most_frequent_reasons():
    stats = StageStats("text.score", rows_in=200)
    for reason, rows in (("ValueError", 30), ("KeyError", 5), ("OSError", 3), ("TypeError", 1)):
        stats.lose(QuarantineRecord("text.score", "0", None, None, rows, reason, "it failed"), is_kept=True)
    assert too_many_failures(stats, 0.2) is None
    assert too_many_failures(stats, 0.1).message == (
        "stage 'text.score' failed on 39 of 200 rows (19.5%), more than max_failed_fraction allows (10.0%): "
        "ValueError (30), KeyError (5), OSError (3) and 1 more"
    )


@pytest.mark.parametrize("on_error", ["quarantine", "skip"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_ends_when_too_much_fails(on_error, threads, tmp_path):
    pulled = []

    def numbers():
        for n in range(1_000):
            pulled.append(n)
            yield Task(data=n)

    executor = LocalExecutor(threads, on_error=on_error, max_attempts=1, max_failed_fraction=0.1)
    with pytest.raises(
        TooManyFailuresError, match=r"NoOdds.*(ValueError \(\d+\), KeyError|KeyError \(\d+\), ValueError)"
    ):
        Pipeline("p", stages=[NoOdds()]).run(executor, initial_tasks=numbers(), run_dir=tmp_path)
    assert len(pulled) < 60
    assert (tmp_path / "result.json").exists()


def test_a_run_below_the_limit_goes_on():
    executor = LocalExecutor(max_attempts=1, max_failed_fraction=0.5)
    result = Pipeline("p", stages=[NoOdds()]).run(executor, initial_tasks=[Task(data=n) for n in range(1_000)])
    assert (len(result), result.quarantined_count) == (500, 500)
    assert result.stats["NoOdds"].failed == {"ValueError": 250, "KeyError": 250}


def test_records_that_a_reader_refuses_count_too():
    class Reader(ProcessingStage):
        def process(self, task):
            report().bad_record(BadRecord("not JSON", "f", 0, "InvalidJson", rows=60))
            return TableBatch(data={"n": list(range(40))})

    with pytest.raises(TooManyFailuresError, match="60 of 60 rows"):
        Pipeline("p", stages=[Reader()]).run(LocalExecutor(max_failed_fraction=0.5), initial_tasks=[Task()])


@pytest.mark.parametrize("name", ["local", "streaming", "actor_pool", "ray_data"])
def test_every_executor_takes_the_policies_from_yaml(name):
    options = "on_error: skip, max_attempts: 2, max_failed_fraction: 0.05, quarantine_payload: false"
    text = f"""
version: 1
stages:
  - table.sample: {{fraction: 0.5}}
    with: {{on_error: raise, max_attempts: 1}}
executor: {{name: {name}, {options}}}
"""
    loaded = load_pipeline(text)
    executor = make_executor(loaded.executor_name, loaded.executor_options, registry=default_registry())
    assert (executor.on_error, executor.max_attempts) == ("skip", 2)
    assert (executor.max_failed_fraction, executor.quarantine_payload) == (0.05, False)
    (stage,) = loaded.pipeline.stages
    assert (stage.on_error, stage.max_attempts) == ("raise", 1)
