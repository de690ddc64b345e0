"""The one type of a column whose files have several: in any order of the files the same."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_table.types.type_union import TypeConflictError, union_columns, union_type

integers = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
texts = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
times = [pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Europe/Berlin")]
others = [pa.null(), pa.bool_(), pa.binary(), pa.binary(3), pa.large_binary(), pa.date32(), pa.date64()]
scalars = st.sampled_from([*integers, pa.float16(), pa.float32(), pa.float64(), *texts, *times, *others])


def nested(inner):
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    return (
        inner.map(pa.list_)
        | inner.map(pa.large_list)
        | inner.map(lambda kind: pa.list_(kind, 2))
        | fields.map(lambda each: pa.struct(list(each.items())))
        | inner.map(lambda kind: pa.map_(pa.string(), kind))
    )


types = st.recursive(scalars, nested, max_leaves=4)


def union(first, second):
    """Return the union in which fields are in alphabetical order, or None."""
    try:
        return None if first is None or second is None else ordered(union_type(first, second))
    except TypeConflictError:
        return None


def ordered(kind):
    if pa.types.is_struct(kind):
        return pa.struct(sorted(((field.name, ordered(field.type)) for field in kind), key=lambda each: each[0]))
    if pa.types.is_map(kind):
        return pa.map_(ordered(kind.key_type), ordered(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(ordered(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(ordered(kind.value_type))
    return pa.list_(ordered(kind.value_type)) if pa.types.is_list(kind) else kind


@settings(deadline=None, max_examples=300)
@given(types, types, types)
def test_the_order_of_the_files_does_not_matter(first, second, third):
    assert union(first, first) == ordered(first)
    assert union(first, second) == union(second, first)
    assert union(union(first, second), third) == union(first, union(second, third))
    assert union(first, pa.null()) == ordered(first)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.uint32(), pa.int8(), pa.int64()),
        (pa.uint64(), pa.int64(), pa.int64()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string(), pa.string()),
        (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us")),
        (
            pa.struct([("a", pa.int32())]),
            pa.struct([("b", pa.string())]),
            pa.struct({"a": pa.int32(), "b": pa.string()}),
        ),
    ],
    ids=str,
)
def test_types_that_go_together(first, second, expected):
    assert union_type(first, second) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.string(), pa.int64()),
        (pa.bool_(), pa.int8()),
        (pa.timestamp("s"), pa.timestamp("s", "UTC")),
        (pa.list_(pa.int64()), pa.int64()),
        (pa.json_(), pa.string()),
    ],
    ids=str,
)
def test_types_that_do_not(first, second):
    with pytest.raises(TypeConflictError, match=r"column 'x': it is .* in one file and .* in another"):
        union_columns({"x": first}, {"x": second})
