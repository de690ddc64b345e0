"""Calls that take too long, and whom a lost worker puts under suspicion."""

from types import SimpleNamespace

import pytest

from curator_core.executors.streaming.engine.actions import (
    Deliver,
    GiveUp,
    KillWorker,
    ResumeCall,
    RunCall,
    StartWorker,
)
from curator_core.executors.streaming.engine.model import CallResult, Node, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.shell.losses import Losses
from curator_core.executors.streaming.shell.node_watch import NodeWatch
from curator_core.executors.streaming.shell.reservation import Reservation
from curator_core.run.state import RunState


def start(timeout_s, tasks=1, *, batch_size=1, keep_sources=False):
    """Return a scheduler whose only worker has been given some tasks."""
    steps = [StepSpec("only", timeout_s=timeout_s, batch_size=batch_size)]
    scheduler = Scheduler(steps, [Node("n", cpus=1)], keep_sources=keep_sources)
    scheduler.tick(0.0)
    scheduler.source_chunk(tasks, 0, "handle", 0.0)
    (worker,) = [each.worker_id for each in scheduler.take_actions() if isinstance(each, StartWorker)]
    scheduler.worker_ready(worker, 1.0)
    return scheduler, worker


def of_kind(kind, scheduler):
    return [each for each in scheduler.take_actions() if isinstance(each, kind)]


def pass_time(scheduler, begin_s, end_s):
    """Let time pass as it does for a driver that is attentive."""
    for tenth in range(1 + round(10 * (end_s - begin_s))):
        scheduler.tick(begin_s + 0.1 * tenth)


def test_a_worker_is_ended_once_when_its_call_is_overdue():
    scheduler, worker = start(timeout_s=2.0)
    (run,) = of_kind(RunCall, scheduler)
    pass_time(scheduler, 1.0, 1.0 + 0.5 + 1.0 + 2.0)
    assert of_kind(KillWorker, scheduler) == []
    pass_time(scheduler, 4.5, 6.0)
    assert of_kind(KillWorker, scheduler) == [KillWorker(worker, run.call.call_id, 1.0)]
    pass_time(scheduler, 6.0, 10.0)
    assert of_kind(KillWorker, scheduler) == []


def test_without_a_timeout_a_call_may_take_for_ever():
    scheduler, _ = start(timeout_s=None)
    scheduler.tick(1e6)
    assert of_kind(KillWorker, scheduler) == []


def lose_workers(cause, *, times=10):
    """Lose every worker that gets the one task; return the actions up to the end, or to so many losses."""
    scheduler, worker = start(timeout_s=None)
    now, seen = 1.0, []
    for _ in range(times):
        actions = scheduler.take_actions()
        seen += actions
        for each in actions:
            if isinstance(each, StartWorker):
                worker = each.worker_id
                scheduler.worker_ready(worker, now)
        if worker in scheduler.board.workers and scheduler.board.workers[worker].calls:
            scheduler.worker_lost(worker, now, cause=cause)
        now += 1.0
        scheduler.tick(now)
    return seen


@pytest.mark.parametrize("cause", ["died", "timeout", "memory"])
def test_a_task_that_costs_three_workers_alone_is_given_up_with_the_cause(cause):
    (given_up,) = [each for each in lose_workers(cause) if isinstance(each, GiveUp)]
    assert (given_up.deaths, given_up.cause) == (3, cause)


def test_a_task_is_not_blamed_for_workers_that_were_in_no_stage_unless_it_happens_again_and_again():
    assert [each for each in lose_workers("between") if isinstance(each, GiveUp)] == []
    (given_up,) = [each for each in lose_workers("between", times=60) if isinstance(each, GiveUp)]
    assert given_up.deaths == Tuning().max_lone_losses


def test_a_task_is_never_blamed_for_a_lost_node():
    assert [each for each in lose_workers("node") if isinstance(each, GiveUp)] == []


def test_a_task_that_is_left_of_several_suspects_leaves_no_notes():
    """Who reads its notes would take a worker that dies with it for one that died in no stage."""
    scheduler, worker = start(timeout_s=None, tasks=32, batch_size=32)
    scheduler.worker_lost(worker, 2.0)
    (worker,) = [each.worker_id for each in of_kind(StartWorker, scheduler)]
    scheduler.worker_ready(worker, 2.0)
    (run,) = of_kind(RunCall, scheduler)
    assert (run.call.kind, run.call.tasks, run.call.is_noted) == ("lone", 2, False)
    part = CallResult(2, 1, 10, 0.1, is_done=False, handle="output", completed=1, open_outputs=1)
    scheduler.call_done(run.call.call_id, part, 3.0)
    (resumed,) = of_kind(ResumeCall, scheduler)
    assert (resumed.call.tasks, resumed.call.is_noted) == (1, False)
    scheduler.worker_lost(worker, 4.0)
    again = scheduler.board.steps[0].urgent[-1]
    assert (again.tasks, again.emitted, again.is_noted, again.deaths) == (1, 1, True, 0)


def test_time_in_which_the_driver_looked_away_does_not_count():
    """A consumer that keeps the driver for an hour must not have workers ended whose answers wait in the queue."""
    scheduler, _ = start(timeout_s=2.0)
    scheduler.tick(1.2)
    scheduler.tick(3_600.0)
    assert of_kind(KillWorker, scheduler) == []
    pass_time(scheduler, 3_600.0, 3_602.0)
    assert of_kind(KillWorker, scheduler) == [], "of the hour, little counts"
    pass_time(scheduler, 3_602.0, 3_607.0)
    assert of_kind(KillWorker, scheduler), "the call is overdue by the time in which somebody was there to hear of it"


def test_each_call_of_a_worker_has_its_own_time():
    scheduler, worker = start(timeout_s=2.0, tasks=2)
    first, second = [each.call for each in of_kind(RunCall, scheduler)]
    pass_time(scheduler, 1.0, 4.0)
    scheduler.call_done(first.call_id, CallResult(1, handle="output"), 4.0)
    pass_time(scheduler, 4.0, 7.0)
    assert of_kind(KillWorker, scheduler) == []
    pass_time(scheduler, 7.0, 9.0)
    (end,) = of_kind(KillWorker, scheduler)
    assert (end.worker_id, end.call_id) == (worker, second.call_id)


def test_a_call_that_was_nearly_overdue_when_the_driver_looked_away_gets_a_moment_to_be_heard():
    scheduler, _ = start(timeout_s=2.0)
    pass_time(scheduler, 1.0, 4.4)
    scheduler.tick(100.0)
    scheduler.tick(100.2)
    assert of_kind(KillWorker, scheduler) == []


def test_what_was_made_in_parts_has_as_long_to_be_made_again_in_one_and_then_twice_as_long():
    scheduler, worker = start(timeout_s=2.0, keep_sources=True)
    (run,) = of_kind(RunCall, scheduler)
    now = 1.0
    for part in range(1, 21):  # each within the time that one may take
        pass_time(scheduler, now, now + 3.0)
        now += 3.0
        result = CallResult(1, 1, 10, 3.0, is_done=part == 20, handle="output", open_outputs=part)
        scheduler.call_done(run.call.call_id, result, now)
    *_, last = of_kind(Deliver, scheduler)
    scheduler.output_lost(last.chunk, now)
    for allowed_s in (60.0, 120.0):
        (replay,) = of_kind(RunCall, scheduler)
        pass_time(scheduler, now, now + allowed_s)
        assert of_kind(KillWorker, scheduler) == []
        pass_time(scheduler, now + allowed_s, now + allowed_s + 10.0)
        now += allowed_s + 10.0
        assert [each.call_id for each in of_kind(KillWorker, scheduler)] == [replay.call.call_id]
        scheduler.worker_lost(worker, now, cause="timeout")
        (worker,) = [each.worker_id for each in of_kind(StartWorker, scheduler)]
        scheduler.worker_ready(worker, now)


def test_a_node_that_is_cut_off_is_tried_once_for_all_its_overdue_workers(monkeypatch):
    """Each try takes seconds, in which the driver does nothing else."""
    tries = []

    def time_out(address, timeout):
        tries.append(address)
        raise TimeoutError

    node = {"NodeID": "n", "Alive": True, "NodeManagerAddress": "host", "NodeManagerPort": 1, "Resources": {}}
    monkeypatch.setattr("ray.nodes", lambda: [node])
    monkeypatch.setattr("socket.create_connection", time_out)
    watch = NodeWatch([], Reservation([], with_cpus=False), ignored=["n"])
    for now in (2.0, 4.0):
        watch.changes(now)
        assert [watch.is_reachable("n") for _ in range(64)] == [False] * 64
    assert tries == [("host", 1)] * 2


@pytest.mark.parametrize(("is_reachable", "suspects"), [(True, 1), (False, 0)])
def test_a_task_is_suspected_of_a_timeout_only_if_its_node_can_be_reached(is_reachable, suspects):
    scheduler, _ = start(timeout_s=2.0)
    killed = []
    losses = Losses(
        scheduler,
        SimpleNamespace(kill=killed.append, node_of=lambda worker_id: "n"),
        SimpleNamespace(state=RunState(), steps=(), policy=None),
        SimpleNamespace(is_reachable=lambda node_id: is_reachable),
        "run",
    )
    scheduler.take_actions()
    pass_time(scheduler, 1.0, 6.0)
    (kill,) = of_kind(KillWorker, scheduler)
    losses.kill_overdue(kill, 6.0)
    assert killed == [kill.worker_id]
    (step,) = scheduler.board.steps
    assert (len(step.urgent), step.queued_tasks) == (suspects, 1 - suspects)
