import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Resources
from curator_core.values.errors import ConfigError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cpus": -1}, "cpus must be zero or more"),
        ({"gpus": float("nan")}, "gpus must be zero or more and finite"),
        ({"gpus": 1.5}, "neither a fraction of one GPU nor a whole number"),
        ({"gpus": 1, "gpu_memory_gb": 10}, "exclude each other"),
        ({"cpus": "2"}, "cpus must be a number"),
        ({"custom": {"nvdec": -1}}, "nvdec"),
    ],
)
def test_impossible_combinations_raise_at_once(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Resources(**arguments)


@given(st.floats(0.1, 80), st.floats(80, 200))
def test_gpu_memory_becomes_a_fraction_of_the_nodes_gpu(needed, size):
    assert Resources(gpu_memory_gb=needed).gpu_fraction(size) == pytest.approx(needed / size)


def test_gpu_memory_that_fits_on_no_gpu_is_refused():
    with pytest.raises(ConfigError, match="does not fit on a GPU of 24"):
        Resources(gpu_memory_gb=40).gpu_fraction(24)


def test_resources_are_values():
    assert Resources(cpus=2) == Resources(cpus=2)
    assert hash(Resources(cpus=2)) == hash(Resources(cpus=2))
    assert pickle.loads(pickle.dumps(Resources(custom={"a": 1}))) == Resources(custom={"a": 1})
