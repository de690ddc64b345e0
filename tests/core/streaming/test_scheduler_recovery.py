"""Chunks that are lost with their inputs are made again from the first step on, whatever else wants the CPUs."""

from curator_core.executors.streaming.actions import Forget, PullSources, RunCall, StartWorker
from curator_core.executors.streaming.model import CallResult, Node, StepSpec
from curator_core.executors.streaming.scheduler import Scheduler


class Shell:
    """Does at once what the scheduler asks for, but keeps the calls until they are ended by hand."""

    def __init__(self, steps):
        self.scheduler = Scheduler(steps, [Node("one", cpus=1)], keep_sources=True)
        self.now = 0.0
        self.calls = []
        self.tell(self.scheduler.tick)

    def tell(self, event, *arguments):
        self.now += 0.01
        event(*arguments, self.now)
        for action in self.scheduler.take_actions():
            if isinstance(action, StartWorker):
                self.tell(self.scheduler.worker_ready, action.worker_id)
            elif isinstance(action, PullSources):
                self.tell(self.scheduler.source_chunk, 1, 10, "source")
            elif isinstance(action, RunCall):
                self.calls.append(action.call)
            elif isinstance(action, Forget):
                action.chunk.handle = None

    def end(self, call):
        self.calls.remove(call)
        self.tell(self.scheduler.call_done, call.call_id, CallResult(call.tasks, 1, 10, 0.01, handle="output"))

    def next_call(self, step, kind="normal"):
        for _ in range(50):
            found = [call for call in self.calls if call.step == step and call.kind == kind]
            if found:
                return found[0]
            self.end(self.calls[0])
        raise AssertionError(f"no {kind} call of step {step}")


def test_a_step_that_cannot_run_its_replay_yet_keeps_no_cpus_from_the_one_it_waits_for():
    """The second step needs more CPUs at once than the others, so nodes may be reserved for it."""
    shell = Shell([StepSpec("a", cpus=0.5), StepSpec("b", cpus=1), StepSpec("c", cpus=0.5)])
    lost = shell.next_call(step=2)
    shell.calls.remove(lost)
    shell.tell(shell.scheduler.inputs_lost, lost.call_id, [each.chunk for each in lost.inputs])
    assert shell.next_call(step=0, kind="replay")
    assert shell.next_call(step=1, kind="replay")
    again = shell.next_call(step=2)
    assert [each.chunk for each in again.inputs] == [each.chunk for each in lost.inputs]
