"""JSON lines come out whole, once, in order, with the right types, however they are sliced and mixed."""

import json
import math

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.authoring.recording import Recording
from curator_core.authoring.splitting import plan_slices
from curator_core.authoring.tasks import FileSlice
from curator_core.files.limits import Limits
from curator_core.files.paths import FileEntry
from curator_core.values.errors import DataError
from curator_table import read_jsonl
from curator_table.json.fast_parser import FastParser


def read(path, *, start=0, end=None, **options):
    recording = Recording()
    with recording.active():
        tables = list(read_jsonl(FileSlice(str(path), start=start, end=end), **options))
    return tables, recording.bad_records


def rows_of(tables):
    return [row for table in tables for row in table.to_pylist()]


def records_of(tables):
    return [{key: value for key, value in row.items() if key not in ("_source", "_row")} for row in rows_of(tables)]


def write(path, *lines):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
    return path


json_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | json_text
)
values = st.recursive(
    scalars | st.sampled_from(["2024-01-01", "2024-01-01T00:00:00Z", 2**53 + 1, 2**63, 2**64 - 1, -(2**63)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_text, inner, max_size=3),
    max_leaves=6,
)


@given(
    lines=st.lists(
        st.tuples(
            st.one_of(st.just(""), st.dictionaries(st.sampled_from("abc"), json_text, max_size=2).map(json.dumps)),
            st.sampled_from(["\n", "\r\n", "\n\n", " \n"]),
            st.booleans(),
        ),
        max_size=12,
    ),
    ends_with_newline=st.booleans(),
    block_bytes=st.integers(1, 120),
    batch_bytes=st.integers(1, 200),
)
@settings(max_examples=300)
def test_slices_of_any_size_give_every_record_once_in_order(
    tmp_path_factory, lines, ends_with_newline, block_bytes, batch_bytes
):
    text = "".join(line + ending for line, ending, _ in lines)
    text = text if ends_with_newline else text.rstrip("\r\n ")
    path = tmp_path_factory.getbasetemp() / "sliced.jsonl"
    data = text.encode()
    path.write_bytes(data)
    expected = [json.loads(line) for line in text.split("\n") if line.strip()]

    pieces = [
        piece
        for group in plan_slices([FileEntry(str(path), len(data))], block_bytes=block_bytes, splittable=lambda _: True)
        for piece in group
    ]
    got = []
    for piece in pieces:
        for table in read_jsonl(piece, batch_bytes=batch_bytes):
            got += table.to_pylist()

    assert [{key: row[key] for key in want} for row, want in zip(got, expected, strict=True)] == expected
    offsets = [row["_row"] for row in got]
    assert offsets == sorted(set(offsets))
    for offset, want in zip(offsets, expected, strict=True):
        assert json.loads(data[offset:].split(b"\n")[0]) == want


@given(
    records=st.lists(st.dictionaries(st.sampled_from(["a", "b", '_é"']), values, max_size=3), min_size=1, max_size=6)
)
@settings(max_examples=500)
def test_no_value_is_lost_or_changed_whatever_the_types(tmp_path_factory, records):
    path = tmp_path_factory.getbasetemp() / "values.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    tables, bad = read(path)
    assert not bad
    for got, want in zip(records_of(tables), records, strict=True):
        for key, value in want.items():
            assert same(got[key], orjson.loads(json.dumps(value))), (key, value, got[key])


def same(got, want):
    """Whether a value read equals the value written, or is its JSON text."""
    if isinstance(got, str) and not isinstance(want, str):
        return orjson.loads(got) == want
    if isinstance(want, dict):
        return (
            isinstance(got, dict)
            and all(same(got[k], want[k]) for k in want)
            and all(got[k] is None for k in got.keys() - want.keys())
        )
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return got == want and isinstance(got, bool) == isinstance(want, bool)


good = [
    b'{"a": 1}',
    b'{"a": 2.5}',
    b'{"a": "2024-01-01"}',
    b'{"a": -0.0}',
    b'{"\\u0061": 3}',
    b'{"a": 9007199254740993}',
]
odd = [
    b'{"a": 1, "a": 2}',
    b'{"a": {"b": 1, "b": 2}}',
    b'{"a": "\\ud800"}',
    b'{"a": 1e999}',
    b'{"a": 01}',
    b'{"a": "\t"}',
]
odd += [
    b'{"a": "x"} {"a": "y"}',
    b"[1]",
    b"null",
    b"NaN",
    b"-Infinity",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\x0c",
    b"/**/",
]
pieces_of_syntax = [b'{"a":', b"1}", b"{", b"}", b'"', b"\\", b",", b" ", b"\r\n"]
fragments = st.sampled_from([*good, *odd, *pieces_of_syntax]) | st.just(b"\n")


@given(parts=st.lists(fragments, max_size=10))
@settings(max_examples=600)
def test_the_fast_parser_never_disagrees_with_the_careful_one(tmp_path_factory, parts):
    path = tmp_path_factory.getbasetemp() / "fuzzed.jsonl"
    path.write_bytes(b"".join(parts))
    fast, fast_bad = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastParser, "parse", lambda *_args, **_kwargs: None)
        careful, careful_bad = read(path)
    assert fast_bad == careful_bad
    assert [table.to_pydict() for table in fast] == [table.to_pydict() for table in careful]
    assert [table.schema for table in fast] == [table.schema for table in careful]


@pytest.mark.parametrize("levels", [65, 1_000])  # orjson decodes up to 1,024
def test_a_record_of_nested_objects_costs_that_record_only(tmp_path, levels):
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b'{"a":' * levels + b"1" + b"}" * levels + b'\n{"a": 2}\n')
    tables, bad = read(path)
    assert [value for table in tables for value in table["a"].to_pylist()] == [1, 2]
    assert [(record.error_type, record.row) for record in bad] == [("NestedTooDeep", 9)]


def test_bad_lines_are_reported_with_offset_and_payload_and_the_rest_comes_out(tmp_path):
    bad_lines = {
        "InvalidJson": [
            b'{"text": "cut',
            b'{"text": "\xff\xfe"}',
            b'{"text": "\\ud800"}',
            b'{"text": NaN}',
            b"{'text': 1}",
        ],
        "NotAnObject": [b"[1, 2]", b'"text"', b"3"],
        "NestedTooDeep": [b'{"text": ' + b"[" * 70 + b"]" * 70 + b"}"],
    }
    everything = [(kind, line) for kind, lines in bad_lines.items() for line in lines]
    everything.append(("InvalidJson", b'{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"))
    everything.append(("InvalidJson", b'{"text": "a"}{"text": "b"}'))
    lines = []
    for number, (_, line) in enumerate(everything):
        lines += [b'{"text": "good %d"}' % number, line]
    path = write(tmp_path / "mixed.jsonl", *lines)

    tables, bad = read(path)

    assert [row["text"] for row in rows_of(tables)] == [f"good {number}" for number in range(len(everything))]
    assert [record.error_type for record in bad] == [kind for kind, _ in everything]
    data = path.read_bytes()
    for record, (_, line) in zip(bad, everything, strict=True):
        assert data[record.row :].startswith(line + b"\n")
        assert line.startswith(record.payload)
        assert record.payload
        assert record.source == str(path)


def test_outside_a_run_a_bad_line_raises(tmp_path):
    path = write(tmp_path / "bad.jsonl", '{"a": 1}', "nonsense")
    with pytest.raises(DataError, match=r"bad\.jsonl:9: not valid JSON"):
        list(read_jsonl(FileSlice(str(path))))


def test_a_file_that_is_not_json_gives_a_bounded_number_of_reports(tmp_path):
    path = write(tmp_path / "noise.jsonl", *["x"] * 50_000)
    tables, bad = read(path)
    assert not tables
    assert len(bad) == 1001
    assert "49,000 more bad lines" in bad[-1].message
    assert sum(record.rows for record in bad) == 50_000


@pytest.mark.parametrize(
    ("first", "second", "kind", "expected"),
    [
        ("1", "2.5", pa.float64(), [1.0, 2.5]),
        ("1", '"x"', pa.string(), ["1", "x"]),
        ('{"b": 1}', '"x"', pa.string(), ['{"b":1}', "x"]),
        ("true", "1", pa.string(), ["true", "1"]),
        ("null", "1", pa.int64(), [None, 1]),
        ("18446744073709551615", "1", pa.string(), ["18446744073709551615", "1"]),
        ("9007199254740993", "0.5", pa.string(), ["9007199254740993", "0.5"]),
        ('"2024-01-01"', '"2024-01-02 10:00:00"', pa.string(), ["2024-01-01", "2024-01-02 10:00:00"]),
        ('["2024-01-01"]', "[]", pa.list_(pa.string()), [["2024-01-01"], []]),
        ("[1]", '["x"]', pa.list_(pa.string()), [["1"], ["x"]]),
        ('{"b": 1}', '{"b": [1]}', pa.struct([("b", pa.string())]), [{"b": "1"}, {"b": "[1]"}]),
        (
            '{"b": 1}',
            '{"c": 2}',
            pa.struct([("b", pa.int64()), ("c", pa.int64())]),
            [{"b": 1, "c": None}, {"b": None, "c": 2}],
        ),
        ("1e300", "1.5", pa.float64(), [1e300, 1.5]),
    ],
)
def test_types_of_disagreeing_records(tmp_path, first, second, kind, expected):
    tables, bad = read(write(tmp_path / "types.jsonl", f'{{"a": {first}}}', f'{{"a": {second}}}'))
    assert not bad
    assert tables[0].schema.field("a").type == kind
    assert tables[0]["a"].to_pylist() == expected


def test_columns_keep_the_order_of_the_file_also_beside_dates_and_conflicts(tmp_path):
    lines = ['{"z": 1, "when": "2024-01-01", "a": 2}', '{"b": 3, "z": 4}']
    tables, _ = read(write(tmp_path / "order.jsonl", *lines))
    assert tables[0].column_names == ["z", "when", "a", "b", "_source", "_row"]
    tables, _ = read(write(tmp_path / "order.jsonl", *lines, '{"z": "text"}'))
    assert tables[0].column_names == ["z", "when", "a", "b", "_source", "_row"]


def test_dates_that_stop_looking_like_dates(tmp_path):
    lines = ['{"when": "2024-01-01"}'] * 100 + ['{"when": "soon"}', '{"when": 7}']
    tables, bad = read(write(tmp_path / "dates.jsonl", *lines), batch_bytes=500)
    assert not bad
    assert [row["when"] for row in rows_of(tables)] == ["2024-01-01"] * 100 + [
        "soon",
        7 if len(tables[-1]) == 1 else "7",
    ]


def test_an_object_with_open_ended_keys_stays_text_and_memory_bounded(tmp_path):
    lines = [json.dumps({"id": row, "counts": {f"word{row}_{i}": i for i in range(20)}}) for row in range(3000)]
    tables, bad = read(write(tmp_path / "wide.jsonl", *lines))
    assert not bad
    assert tables[0].schema.field("counts").type == pa.string()
    assert [json.loads(row["counts"]) for row in rows_of(tables)] == [json.loads(line)["counts"] for line in lines]


def test_too_long_records_are_skipped_whole(tmp_path):
    lines = ['{"a": 1}', '{"a": "' + "x" * 300_000 + '"}', '{"a": 2}', '{"a": "' + "y" * 3000 + '"}', '{"a": 3}']
    path = write(tmp_path / "long.jsonl", *lines)
    for batch_bytes in (100, 10_000, 10**7):
        tables, bad = read(path, batch_bytes=batch_bytes, limits=Limits(max_record_bytes=2000))
        assert [row["a"] for row in rows_of(tables)] == [1, 2, 3]
        assert [(record.error_type, record.row) for record in bad] == [
            ("RecordTooLong", 9),
            ("RecordTooLong", 9 + len(lines[1]) + 1 + 9),
        ]


def test_byte_order_mark_is_tolerated_at_the_start_only(tmp_path):
    path = tmp_path / "bom.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{"a": 2}\n{"a": 3}\n')
    tables, bad = read(path)
    assert [(row["a"], row["_row"]) for row in rows_of(tables)] == [(1, 3), (3, 24)]
    assert [record.row for record in bad] == [12]


def test_selected_columns_come_in_the_order_asked_and_missing_ones_are_null(tmp_path):
    tables, _ = read(write(tmp_path / "a.jsonl", '{"a": 1, "b": "x"}'), columns=["b", "nope"])
    assert tables[0].to_pylist() == [{"b": "x", "nope": None, "_source": str(tmp_path / "a.jsonl"), "_row": 0}]


def test_provenance_in_the_file_is_kept_under_another_name(tmp_path):
    path = write(tmp_path / "again.jsonl", '{"_source": "old", "_row": 5, "a": 1}')
    tables, _ = read(path)
    assert tables[0].to_pylist() == [
        {"_source_in_file": "old", "_row_in_file": 5, "a": 1, "_source": str(path), "_row": 0}
    ]


def test_objects_without_keys_are_records_too(tmp_path):
    tables, bad = read(write(tmp_path / "empty.jsonl", "{}", "{}"))
    assert not bad
    assert [row["_row"] for row in rows_of(tables)] == [0, 3]


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \n\t\n", b"\xef\xbb\xbf"])
def test_files_without_records_give_nothing(tmp_path, content):
    (tmp_path / "none.jsonl").write_bytes(content)
    assert read(tmp_path / "none.jsonl") == ([], [])


def test_numbers_keep_their_sign_and_kind(tmp_path):
    tables, _ = read(write(tmp_path / "n.jsonl", '{"a": -0.0, "b": 1}', '{"a": 1e-320, "b": -9223372036854775808}'))
    first, second = rows_of(tables)
    assert math.copysign(1, first["a"]) == -1
    assert second["a"] == 1e-320
    assert second["b"] == -(2**63)


def test_a_file_that_changed_since_it_was_listed_is_refused(tmp_path):
    path = write(tmp_path / "grown.jsonl", '{"a": 1}')
    with pytest.raises(DataError, match="when it was listed"):
        list(read_jsonl(FileSlice(str(path), file_bytes=5)))
