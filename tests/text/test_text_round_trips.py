"""Rows of odd schemas through the readers and writers and back: every value is equal, or its row is reported."""

import datetime as dt
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_text import ReadJsonl, ReadParquet, WriteJsonl, WriteParquet

names = st.sampled_from(["a", "A", "b.c", "", '"', "é", "[]", "_source", "id "])
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["2024-01-01", "null", "}\n{", '":']
)
numbers = (
    st.integers(-3, 3)
    | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 2**70])
    | st.sampled_from([0.5, -0.0, 1e300, 5e-324, 1.0])
)
scalars = st.none() | st.booleans() | numbers | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=5
)


@st.composite
def similar_rows(draw):
    """Rows of which most have values of the same kind under a key."""
    usual = {name: draw(st.sampled_from([scalars, numbers, text, values])) for name in draw(st.sets(names, max_size=4))}
    rows = draw(st.lists(st.fixed_dictionaries({}, optional=usual), min_size=1, max_size=6))
    return [{"id": number, **row} for number, row in enumerate(rows)]


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def same(got, want):
    """Whether values are equal; a boolean is no number."""
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[key], want[key]) for key in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return got == want and isinstance(got, bool) == isinstance(want, bool)


def run(reader, writer):
    return Pipeline(stages=[reader, writer]).run(LocalExecutor())


def read_lines(folder):
    rows = [json.loads(line) for path in folder.iterdir() for line in path.read_text().split("\n")[:-1]]
    kept = {"_source_in_file": "_source"}
    return {row["id"]: {kept.get(key, key): value for key, value in row.items()} for row in rows}


def fresh(tmp_path_factory):
    """Return an empty folder, the same for every example."""
    folder = tmp_path_factory.getbasetemp() / "round_trip"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    return folder


@settings(deadline=None, max_examples=25)
@given(files=st.lists(similar_rows(), min_size=1, max_size=3), block_bytes=st.sampled_from([1, 60, 2**20]))
def test_lines_come_back_as_they_were_or_are_reported(tmp_path_factory, files, block_bytes):
    folder = fresh(tmp_path_factory)
    rows, places = {}, {}
    for number, own in enumerate(files):
        path, offset = folder / "in" / f"{number}.jsonl", 0
        for row in own:
            row["id"] += 10 * number
            rows[row["id"]], places[str(path), offset] = row, row["id"]
            offset += len(json.dumps(row)) + 1
        path.write_text("".join(json.dumps(row) + "\n" for row in own))
    reader = ReadJsonl(str(folder / "in"), block_bytes=block_bytes)
    results = [run(reader, WriteJsonl(str(folder / "lines"))), run(reader, WriteParquet(str(folder / "columns")))]
    if any((folder / "columns").iterdir()):
        pq.read_table(folder / "columns")  # as one
        assert not run(ReadParquet(str(folder / "columns")), WriteJsonl(str(folder / "back"))).quarantined
    for result, name in zip(results, ("lines", "back"), strict=True):
        reported = {places[record.source, record.row] for record in result.quarantined}
        got = read_lines(folder / name) if (folder / name).exists() else {}
        assert got.keys() == rows.keys() - reported
        for number, row in got.items():
            assert same(without_nulls(row), without_nulls(rows[number])), (row, rows[number])


BEGINNING = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a naive timestamp
families = {
    "number": [pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.float64()],
    "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.null()],
    "time": [pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ns"), pa.null()],
    "object": [pa.struct([("x", pa.int32())]), pa.struct([("y", pa.string())]), pa.struct([("x", pa.int64())])],
    "list": [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.null())],
}
family_values = {
    "number": st.integers(0, 100),
    "text": text,
    "time": st.integers(0, 1000).map(lambda seconds: BEGINNING + dt.timedelta(seconds=seconds)),
    "object": st.fixed_dictionaries({}, optional={"x": st.integers(0, 9), "y": text}),
    "list": st.lists(st.integers(0, 9), max_size=2),
}


@st.composite
def tables(draw):
    """A table whose columns have one of the types of their families."""
    count = draw(st.integers(1, 3))
    columns = {}
    for name in draw(st.sets(st.sampled_from(sorted(families)))):
        kind = draw(st.sampled_from(families[name]))
        is_null = pa.types.is_null(kind) or (pa.types.is_list(kind) and pa.types.is_null(kind.value_type))
        own = st.none() if is_null else st.none() | family_values[name]
        columns[name] = pa.array(draw(st.lists(own, min_size=count, max_size=count)), kind)
    return columns, count


@settings(deadline=None, max_examples=25)
@given(files=st.lists(tables(), min_size=1, max_size=3), large=st.lists(st.sampled_from([1, 2**53 + 1]), max_size=2))
def test_columns_come_back_as_they_were_or_are_reported(tmp_path_factory, files, large):
    folder = fresh(tmp_path_factory)
    if large:
        files = [*files, ({"number": pa.array(large, pa.int64())}, len(large))]
    expected = {}
    for number, (columns, count) in enumerate(files):
        table = pa.table({**columns, "id": pa.array(range(10 * number, 10 * number + count), pa.int64())})
        pq.write_table(table, folder / "in" / f"{number}.parquet")
        expected |= {row["id"]: row for row in table.to_pylist()}
    reader = ReadParquet(str(folder / "in"), block_bytes=1)
    result = run(reader, WriteParquet(str(folder / "out")))
    reported = {10 * int(record.source.split("/")[-1][0]) + record.row for record in result.quarantined}
    assert all(expected[number]["number"] == 2**53 + 1 for number in reported)
    got = {row["id"]: row for row in pq.read_table(folder / "out").to_pylist()}
    assert got.keys() == expected.keys() - reported
    for number, row in got.items():
        assert same(without_nulls(row), without_nulls(expected[number]))
