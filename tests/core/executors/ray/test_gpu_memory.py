"""The memory of GPUs, as their nodes tell it."""

import pytest

from curator_core import ActorPoolExecutor, Pipeline, ProcessingStage, Resources, Task
from curator_core.executors.ray.nodes import measure_gpus, smallest_gpu_gb
from curator_core.values.errors import PipelineError


@pytest.fixture
def fake_smi(tmp_path, monkeypatch):
    """Put an ``nvidia-smi`` first on the path that prints the given lines."""

    def make(lines, code=0):
        command = tmp_path / "nvidia-smi"
        command.write_text(f"#!/bin/sh\nprintf '{lines}'\nexit {code}\n")
        command.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    return make


@pytest.mark.parametrize(
    ("lines", "code", "expected"),
    [
        ("81559\\n40960\\n", 0, 42.9),
        ("[N/A]\\n", 0, None),
        ("", 0, None),
        ("no devices\\n", 9, None),
    ],
    ids=["two", "unknown", "none", "failing"],
)
def test_the_smallest_gpu_of_a_node_counts(fake_smi, lines, code, expected):
    fake_smi(lines, code)
    assert smallest_gpu_gb() == (expected if expected is None else pytest.approx(expected, abs=0.1))


class Model(ProcessingStage[Task, Task]):
    resources = Resources(gpu_memory_gb=10)

    def process(self, task):
        return task


def test_nodes_that_cannot_tell_are_not_used(ray_session, monkeypatch):
    (node,) = measure_gpus(ray_session.nodes)
    assert (node.gpus, node.gpu_memory_gb) == (4, None)
    with pytest.raises(PipelineError, match="'Model' needs cpus=1 gpu_memory_gb=10 for a worker"):
        Pipeline("p", stages=[Model()]).run(ActorPoolExecutor(), initial_tasks=[Task(data=1)])
