"""Tables of neighbouring files are joined where every value stays what it is, and stay apart elsewhere."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.joining import join_tables

EXACT = 2**53

integers = st.integers(EXACT - 2, EXACT + 2) | st.integers(-EXACT - 2, -EXACT + 2) | st.integers(-5, 5)


def in_list(values):
    return [None if each is None else [each] for each in values]


def in_struct(values):
    return [None if each is None else {"x": each} for each in values]


@pytest.mark.parametrize("shaped", [list, in_list, in_struct])
@given(wholes=st.lists(integers | st.none(), min_size=1, max_size=4), fractions_first=st.booleans())
def test_integers_become_floats_only_where_all_are_exact(shaped, wholes, fractions_first):
    tables = [pa.table({"n": shaped(wholes)}), pa.table({"n": shaped([0.5])})]
    if fractions_first:
        tables.reverse()
    joined = list(join_tables(tables, 2**20))
    assert len(joined) == (1 if all(abs(each or 0) <= EXACT for each in wholes) else 2)
    rows = [row for table in joined for row in table.to_pylist()]
    assert rows == [row for table in tables for row in table.to_pylist()]


def test_tables_whose_columns_disagree_stay_apart_with_their_types():
    tables = [pa.table({"n": [1]}), pa.table({"n": ["one"]})]
    assert list(join_tables(tables, 2**20)) == tables
