"""Which stages run together in one call."""

from typing import Any

import pytest

from curator_core import EmptyTask, Pipeline, ProcessingStage, Resources, Task


class Source(ProcessingStage[EmptyTask, Task[Any]]):
    def process(self, task):
        return Task(data=1)


class Work(ProcessingStage[Task[Any], Task[Any]]):
    def process(self, task):
        return task


def steps(*stages):
    return [step.name for step in Pipeline("p", stages=list(stages)).build().steps]


def work(name, **options):
    return Work().with_(name=name, **options)


def test_like_neighbours_become_one_step():
    assert steps(work("a"), work("b"), work("c")) == ["a+b+c"]


@pytest.mark.parametrize(
    "options",
    [
        {"fuse": False},
        {"workers": 2},
        {"min_workers": 1},
        {"max_workers": 3},
        {"batch_size": 8},
        {"timeout_s": 5},
        {"resources": Resources(cpus=2)},
        {"resources": Resources(gpus=1)},
        {"resources": Resources(memory_gb=1)},
        {"resources": Resources(custom={"license": 1})},
    ],
    ids=str,
)
def test_a_stage_with_a_reason_to_stay_apart_stays_apart(options):
    assert steps(work("a"), work("b", **options)) == ["a", "b"]


def test_gpu_stages_do_not_share_a_worker_even_if_they_need_the_same():
    gpu = Resources(gpus=1)
    assert steps(work("a", resources=gpu), work("b", resources=gpu)) == ["a", "b"]


class Splits(Work):
    spreads = True


def test_what_follows_a_stage_that_splits_its_work_runs_in_other_calls():
    assert steps(work("a"), Splits().with_(name="b"), work("c"), work("d")) == ["a+b", "c+d"]


def test_a_source_is_a_step_of_its_own_so_that_its_work_spreads():
    assert steps(Source(), work("a"), work("b")) == ["Source", "a+b"]


def test_stages_that_want_the_same_batches_share_a_step():
    assert steps(work("a", batch_size=4), work("b", batch_size=4), work("c", batch_size=2)) == ["a+b", "c"]


def test_the_time_limits_of_a_step_add_up():
    (step,) = Pipeline("p", stages=[work("a", timeout_s=5), work("b", timeout_s=2)]).build().steps
    assert step.timeout_s == 7


def test_the_description_shows_the_steps():
    text = Pipeline("p", stages=[Source(), work("a"), work("b")]).describe()
    assert "2 steps:" in text
    assert "a+b" in text
