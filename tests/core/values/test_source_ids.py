"""Compact sets and orders of source ids are the sets and dicts that they stand for."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from curator_core import FileGroupTask, Task
from curator_core.authoring.tasks import source_id
from curator_core.run import outputs as outputs_module
from curator_core.run import source_order
from curator_core.run.ledger.known_sources import KnownSources
from curator_core.run.outputs import Outputs
from curator_core.run.source_order import SourceOrder, child_numbers, in_order
from curator_core.values import source_ids
from curator_core.values.source_ids import SourceIds

DIGESTS = st.integers(0, 2**64 - 1).map(lambda number: f"{number:016x}")
ODD = st.sampled_from(["", "007", "0-5", "3f2a9c0d11e4b7a6x2", "3F2A9C0D11E4B7A6", "1234567890123456", "²", "+5"])
IDS = st.one_of(st.integers(0, 70_000).map(str), st.integers(0, 10**14).map(str), DIGESTS, ODD, st.text(max_size=17))


@given(st.lists(IDS), st.lists(IDS))
def test_a_compact_set_holds_what_was_added_and_nothing_else(added, asked):
    ids, plain = SourceIds(), set()
    for source in added:
        assert ids.add(source) is (source not in plain)
        plain.add(source)
    for each in (ids, pickle.loads(pickle.dumps(ids))):
        assert set(each) == plain
        assert len(each) == len(plain)
        assert [source in each for source in asked] == [source in plain for source in asked]


def test_many_digests_are_found_after_they_were_sorted():
    numbers = [number * 0x9E3779B97F4A7C15 % 2**64 for number in range(3 * source_ids._RECENT + 5)]
    ids = SourceIds(f"{number:016x}" for number in [*numbers, *numbers])
    assert len(ids) == len(numbers)
    assert all(f"{number:016x}" in ids for number in numbers)
    assert not any(f"{number ^ 1:016x}" in ids for number in numbers[:100] if number ^ 1 not in numbers)
    assert len(pickle.dumps(ids)) < 10 * len(ids)


@given(st.lists(st.tuples(IDS, st.one_of(st.none(), DIGESTS, st.text(max_size=5)))), st.lists(IDS))
def test_the_content_that_was_put_last_counts(entries, left_out):
    known, plain = KnownSources(), {}
    for source, content in entries:
        known.put(source, content)
        plain[source] = content
    assert {source: known.content(source) for source in known} == plain
    kept = known.without(set(left_out))
    assert {source: kept.content(source) for source in kept} == {
        source: content for source, content in plain.items() if source not in left_out
    }


@given(st.lists(IDS), st.lists(IDS))
def test_places_are_those_of_the_first_time(added, asked):
    order, plain = SourceOrder(), {}
    for source in added:
        order.add(source)
        plain.setdefault(source, len(plain))
    known = sorted(plain, key=order.place)
    assert known == list(plain)
    assert [order.place(source) is None for source in asked] == [source not in plain for source in asked]


NEIGHBOURS = st.tuples(st.sampled_from([0, 1, 4, 32_760, 65_530]), st.integers(1, 40)).map(
    lambda row: [str(number) for number in range(row[0], row[0] + row[1])]
)


@given(st.lists(st.one_of(NEIGHBOURS, st.lists(IDS, max_size=4))))
def test_sources_added_together_have_the_places_of_those_added_one_by_one(chunks):
    together, one_by_one = SourceOrder(), SourceOrder()
    for chunk in chunks:
        together.extend(chunk)
        for source in chunk:
            one_by_one.add(source)
    assert len(together) == len(one_by_one)
    for source in {source for chunk in chunks for source in chunk}:
        assert together.place(source) == one_by_one.place(source)


TASK_IDS = st.tuples(st.integers(0, 5), st.lists(st.sampled_from(["0", "1", "2", "10", "q1b05"]), max_size=3)).map(
    lambda parts: "/".join([str(parts[0]), *parts[1]])
)


@given(st.lists(TASK_IDS, min_size=1, max_size=60), st.permutations(range(6)), st.booleans())
def test_packed_outputs_are_sorted_as_plain_ones_are(task_ids, places, by_children):
    tasks = [Task(data=number, task_id=task_id) for number, task_id in enumerate(task_ids)]

    def key(task):
        return places[int(source_id(task.task_id))], child_numbers(task.task_id) if by_children else ()

    found = source_order._permutation(Outputs(tasks), lambda source: places[int(source)], by_children=by_children)
    expected = sorted(tasks, key=key)
    assert list(Outputs(tasks).reordered(found)) == expected
    assert list(in_order(tasks, lambda source: places[int(source)], by_children=by_children)) == expected


def test_many_outputs_come_back_as_they_were_in_any_order():
    tasks = [
        FileGroupTask(data=[f"/out/part-{number}.parquet"], task_id=f"{number % 7}/{number}", meta={"rows": number})
        if number % 3
        else Task(data=None if number % 2 else f"value {number}", task_id=f"{number % 7}/{number}", dataset_name="d")
        for number in range(10_000)
    ]
    odd = Task(data=["a list"], task_id="3/5000")
    tasks[5_000] = odd
    outputs = Outputs(tasks)
    assert list(outputs) == tasks
    assert (len(outputs), outputs[-1], outputs[1_022:1_026]) == (len(tasks), tasks[-1], tasks[1_022:1_026])
    assert outputs[5_000] is odd
    assert outputs.rows == sum(task.num_items for task in tasks)
    ordered = in_order(outputs, int)
    assert list(ordered) == sorted(tasks, key=lambda task: (int(source_id(task.task_id)), child_numbers(task.task_id)))


def test_ordering_interleaved_outputs_unpacks_each_block_only_twice(monkeypatch):
    unpacked = []
    unpack = outputs_module._unpack
    monkeypatch.setattr(outputs_module, "_unpack", lambda block: unpacked.append(block) or unpack(block))
    ids = [f"{source}/{batch}/{part}" for batch in range(4) for part in range(5) for source in range(250)]
    outputs = Outputs(Task(data=number, task_id=task_id) for number, task_id in enumerate(ids))
    ordered = in_order(outputs, int)
    assert len(unpacked) == 2 * (len(ids) // 1_024), "for their ids, then for the new order"
    assert [task.task_id for task in ordered] == sorted(ids, key=lambda each: [int(part) for part in each.split("/")])
