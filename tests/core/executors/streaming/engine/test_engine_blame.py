"""How many workers must die with a task before it is blamed."""

from hypothesis import given
from hypothesis import strategies as st

from curator_core.executors.streaming.engine.model import Call
from curator_core.executors.streaming.engine.recovery import Blame
from curator_core.executors.streaming.engine.tuning import Tuning

TUNING = Tuning()


def suspect(deaths, cause="died"):
    return Call(0, 0, [], kind="lone", deaths=deaths, losses=deaths, cause=cause)


def test_where_nothing_else_ends_workers_the_third_death_is_enough():
    blame = Blame()
    for _ in range(1_000):
        blame.came_through(suspect(0))
    assert [blame.is_guilty(deaths, deaths, "died") for deaths in (1, 2, 3)] == [False, False, True]


def test_where_workers_die_by_themselves_it_takes_more():
    blame = Blame()
    blame.unprovoked()
    blame.came_through(suspect(2))
    assert not blame.is_guilty(5, 5, "died")
    assert blame.is_guilty(12, 12, "died")


def test_one_death_in_thousands_of_tries_changes_nothing():
    blame = Blame()
    blame.unprovoked()
    for _ in range(1_000):
        blame.came_through(suspect(0))
    assert blame.deaths_needed == TUNING.blamed_deaths


def test_who_takes_too_long_or_too_much_memory_is_not_excused_by_others():
    blame = Blame()
    for _ in range(10):
        blame.unprovoked()
        blame.came_through(suspect(1, cause="memory"))
    assert blame.is_guilty(3, 3, "timeout")
    assert blame.is_guilty(3, 3, "memory")
    assert not blame.is_guilty(3, 3, "died")


@given(st.lists(st.integers(-1, 3), max_size=40), st.integers(0, 40))
def test_nobody_is_blamed_early_or_tried_for_ever(history, losses):
    blame = Blame()
    for each in history:
        if each < 0:
            blame.unprovoked()
        else:
            blame.came_through(suspect(each))
    assert TUNING.blamed_deaths <= blame.deaths_needed <= TUNING.max_lone_losses
    for cause in ("died", "between", "node", "timeout", "memory"):
        assert not blame.is_guilty(TUNING.blamed_deaths - 1, min(losses, TUNING.max_lone_losses - 1), cause)
        assert blame.is_guilty(0, TUNING.max_lone_losses, cause)
