"""Counts by source task add up to the counts of the run, and survive the ledger."""

import json
import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import Task
from curator_core.authoring.recording import Recording
from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.values.counts import Counts, SourceCounts
from curator_core.values.stats import StageStats

events = st.lists(
    st.tuples(
        st.sampled_from(["saw", "timed", "made", "keep", "add", "lose", "passed"]),
        st.sampled_from(["a/0", "b", "c/1/2"]),
        st.integers(1, 5),
    ),
    max_size=30,
)


def tell(stats, kind, task_id, amount):
    task = Task(data=amount, task_id=task_id)
    if kind == "saw":
        stats.saw([task, Task(task_id="a/9")])
    elif kind == "timed":
        stats.saw([task], process_time_s=0.5)
    elif kind == "made":
        stats.made(task)
    elif kind == "keep":
        recording = Recording()
        recording.drop(f"reason {amount}", amount)
        recording.scores.add_values([float(amount), -2.0])
        recording.count(requests=amount, cost=amount / 4)
        stats.keep(recording)
    elif kind == "add":
        stats.add(retries=amount)
    elif kind == "passed":
        stats.passed(task, task, process_time_s=0.25)
    else:
        record = QuarantineRecord("s", task_id, None, None, amount, f"Error{amount}", "it failed")
        stats.lose(record, is_kept=amount % 2 == 0)


@settings(max_examples=50)
@given(events)
def test_the_parts_add_up_to_the_whole_also_after_a_trip_through_json(told):
    counts = SourceCounts()
    plain, sourced, restored = StageStats("s"), StageStats("s", counts), StageStats("s")
    for event in told:
        tell(plain, *event)
        tell(sourced, *event)
    assert sourced.to_dict() == plain.to_dict()
    for by_stage in counts.take_all().values():
        for each in by_stage.values():
            restored.merge(Counts.from_json(json.loads(json.dumps(each.to_json()))))
    assert restored.to_dict() == plain.to_dict()


@settings(max_examples=50)
@given(events)
def test_merged_counts_are_the_counts_of_both(told):
    apart, together = [SourceCounts(), SourceCounts()], SourceCounts()
    stats = [StageStats("s", each) for each in (*apart, together)]
    for number, event in enumerate(told):
        tell(stats[number % 2], "timed", *event[1:])
        tell(stats[2], "timed", *event[1:])
    total = SourceCounts()
    for each in apart:
        total.merge(pickle.loads(pickle.dumps(each.take_all())))
    left, right = total.take_all(), together.take_all()
    assert {source: each["s"].to_json() for source, each in left.items()} == {
        source: each["s"].to_json() for source, each in right.items()
    }


def test_statistics_travel_as_their_sum():
    stats = StageStats("s", SourceCounts())
    stats.saw([Task(task_id="a")], process_time_s=1.0)
    stats.busy_fraction = 0.5
    copy = pickle.loads(pickle.dumps(stats))
    assert type(copy) is StageStats
    assert copy.to_dict() == stats.to_dict()


@settings(max_examples=50)
@given(events, events)
def test_taken_counts_start_from_zero_and_add_up(first, second):
    whole, parts, total = StageStats("s"), StageStats("s"), StageStats("s")
    for event in (*first, *second):
        tell(whole, *event)
    for told in (first, second):
        for event in told:
            tell(parts, *event)
        copy, taken = parts.counted(), parts.take()
        assert copy == taken
        total.merge(taken)
    assert parts.counted() == Counts()
    assert total.to_dict() == whole.to_dict()
