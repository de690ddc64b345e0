"""Calls that take too long, and whom a lost worker puts under suspicion."""

import pytest

from curator_core.executors.streaming.actions import GiveUp, KillWorker, RunCall, StartWorker
from curator_core.executors.streaming.blame import LONE_LOSSES
from curator_core.executors.streaming.model import Node, StepSpec
from curator_core.executors.streaming.scheduler import Scheduler


def start(timeout_s, tasks=1):
    """Return a scheduler whose only worker has been given some tasks."""
    scheduler = Scheduler([StepSpec("only", timeout_s=timeout_s)], [Node("n", cpus=1)], call_s=0.5)
    scheduler.tick(0.0)
    scheduler.source_chunk(tasks, 0, "handle", 0.0)
    (worker,) = [each.worker_id for each in scheduler.take_actions() if isinstance(each, StartWorker)]
    scheduler.worker_ready(worker, 1.0)
    return scheduler, worker


def of_kind(kind, scheduler):
    return [each for each in scheduler.take_actions() if isinstance(each, kind)]


def test_a_worker_is_ended_once_when_its_call_is_overdue():
    scheduler, worker = start(timeout_s=2.0)
    assert of_kind(RunCall, scheduler)
    scheduler.tick(1.0 + 2.0)
    assert of_kind(KillWorker, scheduler) == []
    scheduler.tick(1.0 + 0.5 + 1.0 + 2.0 + 0.1)
    assert of_kind(KillWorker, scheduler) == [KillWorker(worker)]
    scheduler.tick(10.0)
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
    assert given_up.deaths == LONE_LOSSES


def test_a_task_is_never_blamed_for_a_lost_node():
    assert [each for each in lose_workers("node") if isinstance(each, GiveUp)] == []
