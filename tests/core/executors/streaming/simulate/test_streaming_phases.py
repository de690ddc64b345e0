"""Steps that begin when others have ended: nobody calls the run stuck, and the busy fraction is of the busy time."""

import pytest

from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel

GPU = Held(gpus=1.0)


@pytest.mark.parametrize(
    ("specs", "is_batch"),
    [
        ([StepSpec("first"), StepSpec("second"), StepSpec("third")], True),
        ([StepSpec("first", held=GPU), StepSpec("second", held=GPU)], False),
    ],
    ids=["one after the other", "one GPU for two"],
)
def test_a_run_is_not_stuck_between_two_steps(specs, is_batch):
    models = [StepModel(0.01, boot_s=0.3) for _ in specs]
    simulation = Simulation(specs, models, [Node("one", cpus=2, gpus=1)], tasks=5, is_batch=is_batch)

    def check(scheduler):
        assert not scheduler.is_stuck

    simulation.observe = check
    assert simulation.run().outputs == 5


def test_the_busy_fraction_behind_a_source_that_ends_early_is_known():
    specs = [StepSpec("list", is_source=True, max_workers=1), StepSpec("model", held=GPU, max_workers=4)]
    models = [StepModel(0.001, fan_out=2_000), StepModel(0.05)]
    result = Simulation(specs, models, [Node("one", cpus=8, gpus=4)], tasks=1).run()
    assert result.outputs == 2_000
    assert result.busy_fractions[1] > 0.9
