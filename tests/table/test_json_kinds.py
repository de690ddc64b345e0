"""The rules that give a column of JSON its type: the order of looking does not matter, and most values fit."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_table.json.kinds import choose_columns, choose_type, count_kinds, disagreements, merge_kinds
from curator_table.json.typed_parser import misfit

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**65)
    | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


def count(each):
    return count_kinds(each, max_fields=100)


def merge(first, second):
    return merge_kinds(first, second, max_fields=100)


@settings(deadline=None)
@given(st.lists(values, max_size=5), st.lists(values, max_size=5), st.lists(values, max_size=5))
def test_counts_add_up_in_any_order(first, second, third):
    a, b, c = count(first), count(second), count(third)
    assert merge(a, b) == merge(b, a) == count(first + second)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, count([])) == a
    assert choose_type(merge(a, a)) == choose_type(a)


one_kind = st.sampled_from([
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**64 - 1),
    st.floats(-1e18, 1e18) | st.integers(-(2**53), 2**53),
    st.text(max_size=3),
])  # fmt: skip
alike = one_kind.flatmap(
    lambda scalar: (
        st.lists(st.none() | scalar)
        | st.lists(st.lists(st.none() | scalar))
        | st.lists(st.dictionaries(st.sampled_from("abc"), scalar))
    )
)


@settings(deadline=None)
@given(alike)
def test_values_of_one_kind_all_fit(some):
    kinds = count(some)
    assert not list(disagreements(kinds))
    assert [value for value in some if misfit(value, choose_type(kinds)) is not None] == []


@pytest.mark.parametrize(
    ("some", "kind", "misfits"),
    [
        ([None, None], pa.null(), []),
        ([1, None], pa.int64(), []),
        ([1, 2.5], pa.float64(), []),
        ([2**53 + 1, 2.5], pa.float64(), [2**53 + 1]),
        ([2**53 + 1, 2**53 + 3, 2.5], pa.int64(), [2.5]),
        ([1, 2**64 - 1], pa.uint64(), []),
        ([-1, 2**63], pa.int64(), [2**63]),
        ([-1, 2**63, 2**63], pa.uint64(), [-1]),
        ([2**70, 1], pa.uint64(), [2**70]),
        ([1e300, 1], pa.int64(), [1e300]),
        ([1e300, 0.5, 1], pa.float64(), []),
        (["x", 1, "y"], pa.string(), [1]),
        ([1, "x", 2], pa.int64(), ["x"]),
        ([True, 1], pa.int64(), [True]),
        ([[1], 1, [2]], pa.list_(pa.int64()), [1]),
        ([[], [None]], pa.list_(pa.null()), []),
        ([[1, 2, "x"]], pa.list_(pa.int64()), [[1, 2, "x"]]),
        ([{"a": 1}, {"b": "x"}], pa.struct([("a", pa.int64()), ("b", pa.string())]), []),
    ],
    ids=str,
)
def test_the_type_of_most_values(some, kind, misfits):
    chosen = choose_type(count(some))
    assert chosen == kind
    assert [value for value in some if misfit(value, chosen) is not None] == misfits


def test_a_value_that_does_not_fit_is_named_by_its_place():
    kind = pa.struct([("a", pa.list_(pa.struct([("b", pa.int64())])))])
    assert misfit({"a": [{"b": 1}, {"b": 0.5}]}, kind) == (".a[].b", "a float")
    assert misfit({"a": [{"c": 1}]}, kind) == (".a[].c", "a new field")


def test_objects_that_are_dictionaries_keep_their_text():
    words = [{"id": n, "words": {f"w{n}": 1}, "none": {}, "few": {"a": 1}} for n in range(20)]
    sparse = [{"list": [{f"w{n}": 1} for n in range(60)]}]
    assert choose_columns(count(sparse), max_columns=100) == {"list": pa.json_(pa.string())}
    dense = [{"list": [{f"w{n}": 1 for n in range(60)}] * 60}]
    assert choose_columns(count(dense), max_columns=100)["list"].value_type.num_fields == 60
    types = choose_columns(count_kinds(words, max_fields=10), max_columns=10)
    assert types == {
        "id": pa.int64(),
        "words": pa.json_(pa.string()),
        "none": pa.json_(pa.string()),
        "few": pa.struct([("a", pa.int64())]),
    }
