"""The numbers that the engine decides by are values of a run, and the defaults are those that were measured."""

from dataclasses import fields

import pytest

from curator_core.config.executors import make_executor
from curator_core.executors.streaming.engine.model import Node, StepSpec
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError


def calls(tuning):
    simulation = Simulation([StepSpec("fast")], [StepModel(1e-4)], [Node("n", cpus=2)], tasks=4_000, tuning=tuning)
    result = simulation.run()
    assert result.outputs == 4_000
    return result.calls


def test_each_run_has_numbers_of_its_own():
    usual = calls(Tuning())
    assert calls(Tuning(max_call_tasks=8)) >= 4_000 / 8 > usual
    assert calls(Tuning()) == usual


@pytest.mark.parametrize("name", [each.name for each in fields(Tuning)])
def test_a_number_that_makes_no_sense_is_refused(name):
    with pytest.raises(ConfigError, match=rf"Tuning: {name} must be more than 0, got 0"):
        Tuning(**{name: 0})


def test_a_pipeline_file_may_set_them():
    executor = make_executor("streaming", {"tuning": {"call_limit_s": 2.0}}, registry=default_registry())
    assert executor.tuning == Tuning(call_limit_s=2.0)


@pytest.mark.parametrize("tuning", [{"call_limit": 2.0}, {"call_limit_s": "long"}, {"call_limit_s": -1.0}])
def test_a_pipeline_file_is_checked(tuning):
    with pytest.raises(ConfigError, match="call_limit"):
        make_executor("streaming", {"tuning": tuning}, registry=default_registry())
