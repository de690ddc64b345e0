"""Workers that are killed at random and tasks that kill them: nothing is lost, doubled or wrong, only the guilty go."""

import itertools

import pytest

from curator_core import Pipeline, StreamingExecutor
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState
from tests.support.worker_kills import ERRORS, MESSAGES, Killer, Mortal, numbered, tally

pytestmark = pytest.mark.usefixtures("ray_session")


def run_among_killers(folder, *, tasks, kills, seed, poison=None, pause_s=0.15):
    """Send tasks through three stages while workers die; return what came out, the records and the kills."""
    signed_in = folder / f"workers-{seed}"
    signed_in.mkdir()
    stages = [
        Mortal("a", signed_in),
        Mortal("b", signed_in, poison).with_(timeout_s=0.2),
        Mortal("c", signed_in),
    ]
    state = RunState()
    plan = Pipeline("mortal", stages=stages).build()
    with Killer(signed_in, kills=kills, seed=seed, pause_s=pause_s).at_work() as killer:
        stream = stream_plan(plan, StreamingExecutor(), state=state, initial_tasks=numbered(tasks, killer))
        outputs = [task.data for task in stream]
    assert state.stats["add b"].quarantined == len(state.quarantined)
    return outputs, state.quarantined, killer.killed


def expect_nothing_lost(folder, *, tasks, kills, seed):
    outputs, quarantined, killed = run_among_killers(folder, tasks=tasks, kills=kills, seed=seed)
    figures = tally(outputs, [(number, "abc") for number in range(tasks)])
    print(f"\nseed {seed}: {tasks} tasks, {killed} workers killed, {figures}, {len(quarantined)} quarantined")  # noqa: T201 - the figures are what the suite is for
    assert killed == kills
    assert figures == {"lost": 0, "duplicated": 0, "wrong": 0}
    assert quarantined == []


def expect_only_the_guilty(folder, *, tasks, kills, seed, poisoned):
    poison = dict(zip(range(7, tasks, 13), itertools.islice(itertools.cycle(ERRORS), poisoned), strict=False))
    outputs, quarantined, killed = run_among_killers(folder, tasks=tasks, kills=kills, seed=seed, poison=poison)
    figures = tally(outputs, [(number, "abc") for number in range(tasks) if number not in poison])
    print(f"\nseed {seed}: {len(poison)} poisoned of {tasks} tasks, {killed} workers killed, {figures}")  # noqa: T201 - the figures are what the suite is for
    assert figures == {"lost": 0, "duplicated": 0, "wrong": 0}
    found = {int(record.task_id): record.error_type for record in quarantined}
    assert found == {number: ERRORS[kind] for number, kind in poison.items()}
    assert len(quarantined) == len(poison)
    assert {record.stage for record in quarantined} == {"add b"}
    # Workers that died for no fault of a task make it take more deaths than three to blame one.
    assert all(record.attempts >= 3 for record in quarantined)
    assert all(MESSAGES[poison[int(record.task_id)]] in record.message for record in quarantined)


def test_ten_workers_are_killed_and_nothing_is_lost(tmp_path):
    expect_nothing_lost(tmp_path, tasks=1_000, kills=10, seed=0)


@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_a_hundred_workers_are_killed_and_nothing_is_lost(tmp_path):
    expect_nothing_lost(tmp_path, tasks=5_000, kills=100, seed=1)


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(1, 3))
def test_ten_kills_over_many_seeds(tmp_path, seed):
    expect_nothing_lost(tmp_path, tasks=1_000, kills=10, seed=seed)


@pytest.mark.chaos
@pytest.mark.timeout(300)
def test_ten_poisoned_tasks_among_random_kills(tmp_path):
    expect_only_the_guilty(tmp_path, tasks=1_000, kills=10, seed=3, poisoned=10)
