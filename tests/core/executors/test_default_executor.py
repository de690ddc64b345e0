"""Which executor runs a pipeline that names none, and that the user is told."""

import logging
import subprocess
import sys

import pytest

from curator_core import Pipeline, Resources, Task, processing_stage
from curator_core.executors.default import default_executor


@processing_stage(name="double")
def double(task):
    return task.with_data(task.data * 2)


PLAIN = Pipeline("plain", stages=[double]).build()


@pytest.mark.parametrize(
    ("ray_is_initialised", "environment", "name", "reason"),
    [
        (False, {}, "local", "no Ray at hand and no stage asks for a GPU"),
        (False, {"RAY_ADDRESS": ""}, "local", "no Ray at hand"),
        (True, {}, "streaming", "Ray is initialised in this process"),
        (False, {"RAY_ADDRESS": "head:6379"}, "streaming", "RAY_ADDRESS is set"),
        (True, {"RAY_ADDRESS": "head:6379", "CURATOR_EXECUTOR": "local"}, "local", "CURATOR_EXECUTOR is set"),
        (False, {"CURATOR_EXECUTOR": "ray_data"}, "ray_data", "CURATOR_EXECUTOR is set"),
    ],
)
def test_a_ray_at_hand_is_used(ray_is_initialised, environment, name, reason):
    choice = default_executor(PLAIN, ray_is_initialised, environment)
    assert choice.name == name
    assert reason in choice.reason


@pytest.mark.parametrize("resources", [Resources(gpus=0.25), Resources(gpu_memory_gb=8)])
def test_a_stage_that_asks_for_a_gpu_is_named(resources):
    model = double.with_(name="model", resources=resources)
    choice = default_executor(Pipeline("scored", stages=[double, model]).build(), False, {})
    assert (choice.name, choice.reason) == ("streaming", "stage 'model' asks for a GPU")


def test_a_run_says_which_executor_it_takes_and_why(monkeypatch, caplog):
    monkeypatch.setenv("CURATOR_EXECUTOR", "local")
    with caplog.at_level(logging.INFO, logger="curator_core.pipelines.pipeline"):
        result = Pipeline("plain", stages=[double]).run(initial_tasks=[Task(data=2)])
    assert [task.data for task in result] == [4]
    assert caplog.messages == ["plain runs with the local executor: CURATOR_EXECUTOR is set"]


def test_choosing_does_not_import_ray():
    program = (
        "import os, sys; os.environ.pop('CURATOR_EXECUTOR', None); os.environ.pop('RAY_ADDRESS', None)\n"
        "from curator_core import Pipeline, Task, processing_stage\n"
        "same = processing_stage(name='same')(lambda task: task)\n"
        "assert len(Pipeline('p', stages=[same]).run(initial_tasks=[Task(data=1)])) == 1\n"
        "assert 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.usefixtures("ray_session")
def test_a_pipeline_runs_on_the_ray_that_this_process_has(monkeypatch, caplog):
    monkeypatch.delenv("CURATOR_EXECUTOR")
    with caplog.at_level(logging.INFO, logger="curator_core.pipelines.pipeline"):
        result = Pipeline("plain", stages=[double]).run(initial_tasks=[Task(data=2)])
    assert [task.data for task in result] == [4]
    assert result.stats["double"].workers  # only executors with worker processes have any
    assert "streaming executor: Ray is initialised" in caplog.text
