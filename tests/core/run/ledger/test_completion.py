"""A source task is complete when everything that came of it is done: never before, and always in the end."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.run.ledger.completion import Completion


@dataclass
class Flow:
    """A run in which every task makes a given number of tasks at every position."""

    positions: int
    fan_outs: list[int]
    taken: int = 0

    def fan_out(self) -> int:
        self.taken += 1
        return self.fan_outs[self.taken % len(self.fan_outs)]


flows = st.builds(Flow, st.integers(1, 4), st.lists(st.integers(0, 3), min_size=1, max_size=12))


def calls_of(flow: Flow, *, in_parts: bool) -> list[list[tuple]]:
    """Return the reports of one source, call by call; those of a call come in their order, calls in any."""
    calls = []
    waiting = 1
    for position in range(flow.positions):
        made = 0
        for _ in range(waiting):
            outputs = flow.fan_out()
            made += outputs
            # In parts: the outputs one by one, then that the input is used up.
            calls.append([*[(position, 0, 1)] * outputs, (position, 1, 0)] if in_parts else [(position, 1, outputs)])
        waiting = made
    return calls + [[("caller",)]] * waiting


@st.composite
def interleaved(draw, calls):
    """Draw an order of all reports that keeps those of each call in their order."""
    turns = draw(st.permutations([number for number, call in enumerate(calls) for _ in call]))
    iterators = [iter(call) for call in calls]
    return [next(iterators[number]) for number in turns]


def tell(completion: Completion, source: str, report: tuple) -> bool:
    if report[0] == "caller":
        return completion.delivered(source)
    position, used, made = report
    return completion.moved(position, source, used=used, made=made)


@settings(max_examples=50)
@given(flow=flows, in_parts=st.booleans(), data=st.data())
def test_in_any_order_a_source_is_complete_exactly_with_the_last_report(flow, in_parts, data):
    reports = data.draw(interleaved(calls_of(flow, in_parts=in_parts)))
    completion = Completion(flow.positions)
    completion.entered("a")
    answers = [tell(completion, "a", report) for report in reports]
    assert answers == [False] * (len(reports) - 1) + [True]
    assert "a" not in completion


@settings(max_examples=50)
@given(all_flows=st.lists(flows, min_size=2, max_size=4), data=st.data())
def test_sources_do_not_disturb_each_other(all_flows, data):
    completion = Completion(all_flows[0].positions)
    calls = []
    for number, flow in enumerate(all_flows):
        flow.positions = all_flows[0].positions
        completion.entered(str(number))
        calls += [[(str(number), report) for report in call] for call in calls_of(flow, in_parts=True)]
    order = data.draw(interleaved(calls))
    last = {source: place for place, (source, _) in enumerate(order)}
    completed = {source: place for place, (source, report) in enumerate(order) if tell(completion, source, report)}
    assert completed == last
    assert len(completion) == 0


@settings(max_examples=50)
@given(flow=flows, lost=st.integers(0, 1_000))
def test_a_report_that_never_comes_leaves_the_source_open(flow, lost):
    reports = [report for call in calls_of(flow, in_parts=False) for report in call]
    reports.pop(lost % len(reports))
    completion = Completion(flow.positions)
    completion.entered("a")
    assert not any(tell(completion, "a", report) for report in reports)
    assert "a" in completion


def test_what_a_source_stage_makes_enters_by_being_made():
    completion = Completion(positions=2)
    assert not completion.moved(0, "a", made=1)
    assert not completion.moved(1, "a", made=1)
    assert not completion.delivered("a")
    assert completion.moved(1, "a", used=1)
