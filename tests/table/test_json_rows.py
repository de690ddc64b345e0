"""Tables become JSON lines without their nulls, however many of the rows have a value in which column."""

import io
import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from curator_table.json.rows import write_rows

KINDS = {
    pa.int64(): lambda number: number,
    pa.string(): lambda number: f'"{number}",é\n{{',
    pa.struct({"a": pa.int64(), "b": pa.list_(pa.string())}): lambda number: (
        {"a": None, "b": [None, "x"]} if number % 2 else {"a": number, "b": None}
    ),
}
every = st.sampled_from([1, 2, 3, 70, 10_000])
columns = st.lists(st.tuples(st.sampled_from(list(KINDS)), every, st.integers(0, 3)), min_size=1, max_size=6)


@given(columns, st.integers(0, 400))
def test_each_row_has_the_values_it_has_in_the_order_of_the_columns(columns, rows):
    names = [f'{"k" * number}"{number}' for number in range(len(columns))]
    cells = [
        [KINDS[kind](row) if row % every == shift % every else None for row in range(rows)]
        for kind, every, shift in columns
    ]
    kinds = [kind for kind, _, _ in columns]
    table = pa.table([pa.array(values, kind) for values, kind in zip(cells, kinds, strict=True)], names=names)
    stream = io.BytesIO()
    write_rows(table, stream, write_nulls=False)
    lines = stream.getvalue().decode().splitlines()
    expected = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
    assert lines == [json.dumps(without_nulls(row), ensure_ascii=False, separators=(",", ":")) for row in expected]


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return value
