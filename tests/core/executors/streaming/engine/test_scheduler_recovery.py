"""Chunks that are lost with their inputs are made again from the first step on, whatever else wants the CPUs."""

import itertools
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.executors.streaming.engine.actions import Forget, PullSources, ResumeCall, RunCall, StartWorker
from curator_core.executors.streaming.engine.board import Board
from curator_core.executors.streaming.engine.model import CallResult, Chunk, Node, Slice, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.values.errors import StageError


class Shell:
    """Does at once what the scheduler asks for, but keeps the calls until they are ended by hand.

    A worker that was interrupted in a call takes no other, unless that one tells it to drop the first.
    """

    def __init__(self, steps, *, keep_sources=True, **bounds):
        self.scheduler = Scheduler(steps, [Node("one", cpus=1)], keep_sources=keep_sources, **bounds)
        self.now = 0.0
        self.calls = []
        self.interrupted = set()
        self.forgotten = set()
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
            elif isinstance(action, ResumeCall):
                self.interrupted.remove(action.worker_id)
                self.calls.append(action.call)
            elif isinstance(action, Forget):
                action.chunk.handle = None
                self.forgotten.add(action.chunk)

    def end(self, call, size_bytes=10, *, outputs=1, is_done=True):
        self.calls.remove(call)
        if call.drops_suspended:
            self.interrupted.discard(call.worker_id)
        result = CallResult(call.tasks, outputs, size_bytes, 0.01, is_done, "output", open_outputs=1)
        if call.worker_id in self.interrupted:
            result = CallResult(0)
        elif not is_done:
            self.interrupted.add(call.worker_id)
        self.tell(self.scheduler.call_done, call.call_id, result)

    def lose_inputs(self, call):
        """Lose all that a call needs before it begins; return that."""
        self.calls.remove(call)
        lost = [each.chunk for each in call.inputs]
        self.tell(self.scheduler.inputs_lost, call.call_id, lost)
        return lost

    def next_call(self, step, kind="normal", inputs=None, running=()):
        """End calls, but not those that are to go on running, until there is such a call."""
        for _ in range(50):
            for call in self.calls:
                is_wanted = inputs is None or [each.chunk for each in call.inputs] == inputs
                if call.step == step and call.kind == kind and is_wanted:
                    return call
            self.end(next(call for call in self.calls if call not in running))
        raise AssertionError(f"no {kind} call of step {step}")


def test_a_step_that_cannot_run_its_replay_yet_keeps_no_cpus_from_the_one_it_waits_for():
    """The second step needs more CPUs at once than the others, so nodes may be reserved for it."""
    shell = Shell([StepSpec("a", cpus=0.5), StepSpec("b", cpus=1), StepSpec("c", cpus=0.5)])
    lost = shell.lose_inputs(shell.next_call(step=2))
    assert shell.next_call(step=0, kind="replay")
    assert shell.next_call(step=1, kind="replay")
    again = shell.next_call(step=2)
    assert [each.chunk for each in again.inputs] == lost


THREE = [StepSpec("a"), StepSpec("b"), StepSpec("c")]


@pytest.mark.parametrize("step", [0, 1])
def test_all_that_exists_when_a_second_node_joins_can_be_made_again_from_then_on(step):
    """On the driver's own node, what was processed is forgotten; on others it may be lost, and is needed again.

    When the node joins, a call of the given step is running. What comes of it is lost with the node.
    """
    shell = Shell(THREE, keep_sources=False)
    at_join = shell.next_call(step=step)
    shell.tell(shell.scheduler.node_added, Node("two", cpus=1))
    shell.end(at_join)
    lost = shell.lose_inputs(shell.next_call(step=2))
    shell.next_call(step=2, inputs=lost)
    assert all(chunk.handle is not None for chunk in lost)


def test_on_the_drivers_own_node_sources_are_forgotten_as_soon_as_they_are_processed():
    shell = Shell(THREE, keep_sources=False)
    source = shell.next_call(step=1).inputs[0].chunk.made_by.inputs[0].chunk
    assert source in shell.forgotten


def test_what_cannot_be_made_again_is_said_to_be_lost_without_blaming_a_node():
    shell = Shell(THREE, keep_sources=False)
    with pytest.raises(StageError, match="tasks of step 'b' were lost from the object store"):
        shell.lose_inputs(shell.next_call(step=2))


def test_a_worker_that_never_got_the_call_with_which_it_drops_another_is_told_again():
    """The only worker of the second step was interrupted, and there is no room for the rest of its outputs."""
    steps = [StepSpec("a", cpus=0.2), *(StepSpec(name, cpus=0.2, max_workers=1) for name in "bc")]
    shell = Shell(steps, memory_limit_bytes=3_000)
    last = shell.next_call(step=2)
    shell.end(shell.next_call(step=1, running=[last]), size_bytes=5_000, is_done=False)
    lost = shell.lose_inputs(last)
    replay = shell.next_call(step=1, kind="replay")
    assert replay.drops_suspended
    shell.lose_inputs(replay)
    shell.next_call(step=2, inputs=lost)
    assert all(chunk.handle == "output" for chunk in lost)


def test_after_a_stop_what_a_source_has_made_can_be_made_again_by_its_worker():
    """The worker has interrupted the call that makes the sources, which is not resumed."""
    shell = Shell([StepSpec("a", is_source=True), StepSpec("b")])
    shell.end(shell.next_call(step=0), is_done=False)
    begun = shell.next_call(step=1)
    shell.tell(shell.scheduler.stop)
    lost = shell.lose_inputs(begun)
    shell.next_call(step=1, inputs=lost)
    assert all(chunk.handle == "output" for chunk in lost)


def test_after_a_stop_a_call_that_an_interrupted_source_sends_back_is_not_begun():
    shell = Shell([StepSpec("a", is_source=True), StepSpec("b")])
    shell.end(shell.next_call(step=0), is_done=False)
    shell.tell(shell.scheduler.stop)
    (behind,) = shell.calls
    shell.end(behind)
    assert shell.calls == []
    assert shell.scheduler.is_finished


def test_a_stage_that_makes_fewer_outputs_when_it_is_repeated_ends_the_run():
    """The tasks that are missing would be sent for ever."""
    shell = Shell(THREE)
    shell.lose_inputs(shell.next_call(step=2))
    with pytest.raises(StageError, match="step 'b' made only 0 of 1 lost outputs again"):
        shell.end(shell.next_call(step=1, kind="replay"), outputs=0)


@given(size_bytes=st.integers(0, 10**13), cuts=st.sets(st.integers(1, 29)), order=st.randoms(use_true_random=False))
def test_a_queue_whose_tasks_are_committed_while_one_is_made_again_is_empty(size_bytes, cuts, order):
    """A rest of 1e-14 bytes is a queue that is never empty: a step with large outputs would wait for it without end."""
    board = Board(
        [StepSpec("a")], [Node("one", cpus=1)], memory_limit_bytes=1 << 30, is_batch=False, keep_sources=False
    )
    (step,) = board.steps
    step.push(Chunk(0, 30, size_bytes, None, left=30))
    slices = list(itertools.starmap(partial(Slice, step.take(30)[0].chunk), itertools.pairwise([0, *sorted(cuts), 30])))
    order.shuffle(slices)
    step.parked_tasks = 1  # waits for a lost chunk
    for each in slices:
        board.commit(step, [each])
    assert step.uncommitted_bytes == 0
