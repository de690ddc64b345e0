"""Packs of tasks and slices of them: any part can be read, nothing is lost or doubled."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import TableBatch, Task
from curator_core.executors.ray_data_blocks import evenly, windows
from curator_core.executors.stored_tasks import Slice, StoredFeed, split_slices, task_count
from curator_core.executors.task_packs import pack_tasks, unpack_tasks


def through_the_store(packs):
    buffers = []
    data = pickle.dumps(packs, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(each) for each in buffers])


@given(st.integers(0, 150), st.integers(0, 160), st.integers(0, 160))
def test_any_part_of_a_pack_can_be_read(count, start, stop):
    tasks = [Task(data=n, task_id=str(n)) for n in range(count)]
    packs = through_the_store(pack_tasks(tasks))
    assert unpack_tasks(packs) == tasks
    assert unpack_tasks(packs, start, stop) == tasks[start:stop]


def test_columns_are_not_copied_into_the_pickle():
    table = TableBatch(data={"n": list(range(100_000))})
    (group,) = pack_tasks([table])
    assert len(bytes(group.data)) < 10_000
    assert sum(memoryview(each).nbytes for each in group.buffers) >= 800_000
    (back,) = unpack_tasks(through_the_store([group]))
    assert back.data.equals(table.data)


@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(1, 12), min_size=1))
def test_cutting_takes_every_task_once_and_in_order(lengths, cuts):
    slices = [Slice(name, 0, length) for name, length in enumerate(lengths)]
    feed = StoredFeed(slices)
    assert feed.count == sum(lengths)
    taken = []
    for cut in [*cuts, sum(lengths) + 1]:
        part = feed.cut(cut)
        assert task_count(part) <= cut
        taken += [(each.ref, index) for each in part for index in range(each.start, each.stop)]
    assert taken == [(name, index) for name, length in enumerate(lengths) for index in range(length)]
    assert feed.cut(1) == []


@given(st.lists(st.integers(1, 5), max_size=5), st.integers(0, 30))
def test_splitting_keeps_all_tasks(lengths, tasks):
    slices = [Slice(name, 2, 2 + length) for name, length in enumerate(lengths)]
    first, rest = split_slices(slices, tasks)
    assert task_count(first) == min(tasks, sum(lengths))
    assert task_count(first) + task_count(rest) == sum(lengths)


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, []), (1, [1]), (1_024, [1_024]), (1_025, [1_024, 1]), (20_000, [1_024, 16_384, 2_592])]
)
def test_windows_grow_and_hold_everything(count, lengths):
    seen = list(windows(Task(data=n) for n in range(count)))
    assert [task.data for window in seen for task in window] == list(range(count))
    assert [len(window) for window in seen] == lengths


def test_windows_are_bounded_by_bytes():
    large = TableBatch(data={"n": list(range(1 << 24))})  # 128 MiB
    assert [len(window) for window in windows([large] * 5)] == [2, 2, 1]


@given(st.integers(0, 200), st.integers(1, 20), st.integers(1, 50))
def test_parts_are_even_and_complete(count, parts, most):
    tasks = list(range(count))
    cut = list(evenly(tasks, parts=parts, most=most))
    assert [n for part in cut for n in part] == tasks
    assert all(0 < len(part) <= most for part in cut)
    assert len(cut) <= max(parts, -(-count // most))
