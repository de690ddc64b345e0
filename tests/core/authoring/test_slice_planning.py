"""Planning: every byte once, in order, equal pieces, lazily."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.splitting import MAX_FILES_PER_GROUP, plan_slices
from curator_core.files.paths import FileEntry
from curator_core.values.errors import ConfigError
from curator_table import FORMATS


@given(sizes=st.lists(st.integers(0, 500), max_size=30), block=st.integers(1, 200))
def test_byte_ranges_cover_every_file_once_in_equal_pieces(sizes, block):
    entries = [FileEntry(f"{index}.jsonl", size, "v") for index, size in enumerate(sizes)]
    groups = list(plan_slices(entries, block_bytes=block, splittable=lambda _: True))
    pieces = [piece for group in groups for piece in group]
    assert list(dict.fromkeys(piece.path for piece in pieces)) == [entry.path for entry in entries]
    for entry in entries:
        mine = [piece for piece in pieces if piece.path == entry.path]
        assert all(piece.file_bytes == entry.size_bytes and piece.version == "v" for piece in mine)
        if len(mine) > 1:
            assert mine[0].start == 0
            assert mine[-1].end == entry.size_bytes
            assert all(one.end == two.start for one, two in itertools.pairwise(mine))
            lengths = [piece.end - piece.start for piece in mine]
            assert len(mine) == -(-entry.size_bytes // block)
            assert max(lengths) <= block
            assert max(lengths) - min(lengths) <= 1
    assert all(sum(piece.size_bytes for piece in group) <= block for group in groups)


@given(groups=st.lists(st.integers(0, 100), min_size=2, max_size=30), block=st.integers(1, 150))
def test_row_groups_are_kept_together_up_to_a_block(groups, block):
    entry = FileEntry("a.parquet", max(sum(groups), block + 1))
    pieces = [p for g in plan_slices([entry], block_bytes=block, group_sizes=lambda _: groups) for p in g]
    ranges = [piece.row_groups or (0, len(groups)) for piece in pieces]
    assert [index for first, last in ranges for index in range(first, last)] == list(range(len(groups)))
    assert all(last - first == 1 or sum(groups[first:last]) <= block for first, last in ranges)


def test_compressed_and_csv_files_stay_whole():
    entries = [FileEntry("a.jsonl.gz", 1000), FileEntry("b.jsonl", 1000)]
    assert [len(g) for g in FORMATS["jsonl"].plan(entries, block_bytes=100)] == [1] * 11
    assert len(list(FORMATS["csv"].plan([FileEntry("a.csv", 1000)], block_bytes=100))) == 1


def test_unknown_sizes_travel_alone_and_groups_have_a_limited_number_of_files():
    entries = [FileEntry("a", 1), FileEntry("b", None), FileEntry("c", 1)]
    assert [len(group) for group in plan_slices(entries, block_bytes=100)] == [1, 1, 1]
    many = (FileEntry(str(n), 0) for n in range(MAX_FILES_PER_GROUP + 1))
    assert [len(group) for group in plan_slices(many, block_bytes=100)] == [MAX_FILES_PER_GROUP, 1]


def test_planning_is_lazy():
    def endless():
        number = 0
        while True:
            yield FileEntry(f"{number}.jsonl", 60)
            number += 1

    plan = plan_slices(endless(), block_bytes=100)
    assert next(plan)[0].path == "0.jsonl"
    assert next(plan)[0].path == "1.jsonl"


def test_a_block_has_a_size():
    with pytest.raises(ConfigError, match="block_bytes must be positive"):
        list(plan_slices([], block_bytes=0))
