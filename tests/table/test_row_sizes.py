"""What rows refer to is measured as if each held it, however it is nested and cut."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_table import row_sizes
from curator_table.row_sizes import has_references, parts, referred_bytes

TEXTS = ["", "a", "four", "a text that is longer than a view"]
INT32 = pa.int32()


def dictionary(rows):
    return pa.DictionaryArray.from_arrays(pa.array(rows, pa.int8()), pa.array(TEXTS))


def runs(rows):
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(rows) + 1), INT32), pa.array(TEXTS).take(rows))


def union(rows):
    codes, positions = pa.array([0] * len(rows), pa.int8()), pa.array(rows, INT32)
    return pa.UnionArray.from_dense(codes, positions, [pa.array(TEXTS)])


def offsets(rows):
    return pa.array(range(len(rows) + 1), INT32)


KINDS = {
    "dictionary": dictionary,
    "runs": runs,
    "union": union,
    "objects": lambda rows: pa.StructArray.from_arrays([dictionary(rows), pa.array(rows)], ["text", "n"]),
    "lists": lambda rows: pa.ListArray.from_arrays(offsets(rows), dictionary(rows)),
    "lists of lists": lambda rows: pa.ListArray.from_arrays(
        offsets(rows), pa.ListArray.from_arrays(offsets(rows), dictionary(rows))
    ),
    "lists of one": lambda rows: pa.FixedSizeListArray.from_arrays(dictionary(rows), 1),
    "maps": lambda rows: pa.MapArray.from_arrays(offsets(rows), pa.array(map(str, rows)), dictionary(rows)),
    "list views": lambda rows: pa.ListViewArray.from_arrays(
        pa.array(rows, INT32), pa.array([1] * len(rows), INT32), pa.array(TEXTS)
    ),
    "dictionary of objects": lambda rows: pa.DictionaryArray.from_arrays(
        pa.array(rows, pa.int8()), pa.StructArray.from_arrays([pa.array(TEXTS)], ["text"])
    ),
}


@pytest.fixture(scope="module")
def small_blocks():
    """Measure a few values at a time, so that lists extend over several blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sizes, "_BLOCK_VALUES", 2)
        yield


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(rows=st.lists(st.integers(0, 3), min_size=1, max_size=9), data=st.data())
def test_rows_are_as_long_as_what_they_refer_to(kind, rows, data):
    array = kind(rows)
    start = data.draw(st.integers(0, len(rows)))
    assert has_references(array.type)
    assert referred_bytes(array.slice(start)).tolist() == [4 + len(TEXTS[row]) for row in rows[start:]]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_a_view_is_as_long_as_its_text(kind):
    array = pa.array([*TEXTS, None], kind)
    assert referred_bytes(array.slice(1)).tolist() == [*map(len, TEXTS[1:]), 0]


def test_nothing_is_referred_to_by_null():
    array = pa.array(["four", None, "four"]).dictionary_encode()
    assert referred_bytes(array).tolist() == [8, 0, 8]


def test_parts_of_lists_have_only_their_own_values():
    table = pa.table({"lists": KINDS["lists"]([3] * 100)})
    cut = list(parts(table, 10 * (4 + len(TEXTS[3]))))
    assert [part.num_rows for part, _ in cut] == [10] * 10
    assert all(len(part["lists"].chunk(0).values) == 10 for part, _ in cut)
    assert pa.concat_tables(part for part, _ in cut).equals(table)
