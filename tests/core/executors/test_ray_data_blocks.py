"""Windows of an open stream of tasks: nothing is lost or doubled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import TableBatch, Task
from curator_core.executors.ray_data_blocks import evenly, windows


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
def test_parts_are_even_and_complete(count, parts, max_tasks):
    tasks = list(range(count))
    cut = list(evenly(tasks, parts=parts, max_tasks=max_tasks))
    assert [n for part in cut for n in part] == tasks
    assert all(0 < len(part) <= max_tasks for part in cut)
    assert len(cut) <= max(parts, -(-count // max_tasks))
