"""Set-ups that fail: others are tried, a bounded number of times; the run ends where no worker can be set up."""

import pytest

from curator_core.executors.streaming.engine.actions import PullSources, StartWorker, StopWorker
from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.values.errors import StageError


class Shell:
    """Sets workers of the first step up, or fails to, by node; notes every try."""

    def __init__(self, nodes, is_healthy, *steps):
        self.scheduler = Scheduler(steps or [StepSpec("only")], nodes)
        self.is_healthy = is_healthy
        self.tries = []
        self.ready = []
        self.now = 0.0
        self.scheduler.tick(0.0)
        self.run()

    def run(self, seconds=3):
        for _ in range(10 * seconds):
            for action in self.scheduler.take_actions():
                if isinstance(action, PullSources):
                    self.scheduler.source_chunk(50, 0, "handle", self.now)
                elif isinstance(action, StartWorker):
                    self.start(action)
                elif isinstance(action, StopWorker):
                    self.scheduler.worker_stopped(action.worker_id, self.now)
            self.now += 0.1
            self.scheduler.tick(self.now)

    def start(self, action):
        self.now += 0.01
        if action.step:
            self.scheduler.worker_ready(action.worker_id, self.now)
            return
        self.tries.append(action.node_id)
        if self.is_healthy(action.node_id):
            self.ready.append(action.worker_id)
            self.scheduler.worker_ready(action.worker_id, self.now)
        else:
            self.scheduler.setup_failed(action.worker_id, StageError(f"no driver on {action.node_id}"), self.now)


TWO = [Node("good", cpus=2), Node("bad", cpus=2)]


def test_a_run_goes_on_with_the_nodes_where_workers_can_be_set_up_and_stops_trying_the_other():
    shell = Shell(TWO, lambda node: node == "good")
    assert shell.tries.count("good") >= 2
    tries = shell.tries.count("bad")
    assert 3 <= tries <= 3 * TWO[1].cpus, "three rounds; all workers may fail in each"
    shell.run(60)
    assert shell.tries.count("bad") == tries


def test_a_run_of_which_no_worker_can_be_set_up_ends_after_one_try_on_each_node():
    tries = []

    def fail(node_id):
        tries.append(node_id)
        return False

    with pytest.raises(StageError, match="no driver on"):
        Shell(TWO, fail)
    assert set(tries) == {"good", "bad"}
    assert len(tries) <= 8, "those that were under way already"


def test_a_node_on_which_the_stage_does_not_fit_is_no_reason_to_wait():
    nodes = [Node("gpus", cpus=2, gpus=2), Node("none", cpus=2)]
    with pytest.raises(StageError, match="no driver on gpus"):
        Shell(nodes, lambda node: False, StepSpec("model", held=Held(gpus=1)))


def test_a_node_whose_trouble_passes_is_used():
    failures = iter([True])
    shell = Shell([Node("one", cpus=4)], lambda node: not next(failures, False))
    assert len(shell.ready) == len(shell.tries) - 1 >= 3


def test_when_the_last_worker_is_lost_the_others_get_another_chance_but_not_for_ever():
    healthy = iter([True])
    shell = Shell([Node("one", cpus=4)], lambda node: next(healthy, False))
    assert len(shell.ready) == 1
    before = len(shell.tries)
    (last,) = shell.ready
    shell.scheduler.worker_lost(last, shell.now)
    with pytest.raises(StageError, match="no driver on one"):
        shell.run(60)
    assert before < len(shell.tries) <= before + 12


def test_a_step_gets_the_place_of_another_if_its_workers_cannot_be_set_up_elsewhere():
    nodes = [Node("bad", cpus=4, gpus=1), Node("good", cpus=4, gpus=1)]
    first, second = (StepSpec(name, held=Held(gpus=1)) for name in ("first", "second"))
    shell = Shell(nodes, lambda node: node == "good", first, second)
    shell.run(20)
    assert {worker.step: worker.node_id for worker in shell.scheduler.board.workers.values()} == {0: "good", 1: "bad"}


def test_when_the_only_node_is_lost_on_which_a_step_could_start_its_setups_error_is_told():
    nodes = [Node("bad", cpus=4, gpus=1), Node("good", cpus=4, gpus=1)]
    first, second = (StepSpec(name, held=Held(gpus=1)) for name in ("first", "second"))
    shell = Shell(nodes, lambda node: node == "good", first, second)
    assert not shell.scheduler.board.steps[0].workers
    with pytest.raises(StageError, match="no driver on bad"):
        shell.scheduler.node_removed("good", shell.now)
