"""CSV is text, row by row accountable; Arrow files keep their types and survive a corrupt batch."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.authoring.recording import Recording
from curator_core.authoring.tasks import FileSlice
from curator_core.values.errors import DataError
from curator_table import read_arrow, read_csv, write_arrow, write_csv


def read(reader, path, **options):
    recording = Recording()
    with recording.active():
        tables = list(reader(FileSlice(str(path)), **options))
    return [row for table in tables for row in table.to_pylist()], recording.bad_records


@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=15),
            st.none() | st.sampled_from(["", "007", '"', ",", "a\nb", "a\r\nb", " x ", "NA", "null"]),
        ),
        max_size=20,
    ),
    batch_bytes=st.integers(1000, 5000),
)
@settings(max_examples=150)
def test_csv_round_trip_keeps_every_text(tmp_path_factory, rows, batch_bytes):
    path = tmp_path_factory.getbasetemp() / "round.csv"
    schema = pa.schema([("a", pa.string()), ("b", pa.string())])
    table = pa.Table.from_pylist([{"a": a, "b": b} for a, b in rows], schema=schema)
    write_csv(table, str(path))
    got, bad = read(read_csv, path, batch_bytes=batch_bytes)
    assert not bad
    assert [(row["a"], row["b"]) for row in got] == rows
    assert [row["_row"] for row in got] == list(range(len(rows)))


def test_bad_csv_rows_are_reported_by_number_and_the_others_keep_theirs(tmp_path):
    path = tmp_path / "bad.csv"
    good = b"".join(b"%d,text\n" % n for n in range(200))
    path.write_bytes(b'\xef\xbb\xbfid,text\n1,one\n2,two,extra\n3,"th\nree"\n\n4\n5,\xff\xfe\n' + good)
    rows, bad = read(read_csv, path, batch_bytes=300)
    assert [(row["id"], row["_row"]) for row in rows[:3]] == [("1", 0), ("3", 2), ("0", 5)]
    assert [row["_row"] for row in rows[2:]] == list(range(5, 205))
    assert sorted((record.row, record.error_type) for record in bad) == [
        (1, "WrongFieldCount"),
        (3, "WrongFieldCount"),
        (4, "InvalidUtf8"),
    ]


def test_csv_without_rows_or_without_anything(tmp_path):
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "empty.csv").write_text("")
    assert read(read_csv, tmp_path / "header.csv") == ([], [])
    assert read(read_csv, tmp_path / "empty.csv") == ([], [])


def test_csv_with_an_unusable_header(tmp_path):
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    with pytest.raises(DataError, match="several columns are called 'a'"):
        read(read_csv, tmp_path / "twice.csv")
    (tmp_path / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="header is not UTF-8"):
        read(read_csv, tmp_path / "latin.csv")


def test_csv_columns_and_nested_values(tmp_path):
    path = tmp_path / "nested.csv"
    kinds = pa.array(["x", None]).dictionary_encode()
    write_csv(pa.table({"tags": [["a", "b"], None], "meta": [{"k": 1}, {"k": None}], "kind": kinds}), str(path))
    rows, _ = read(read_csv, path, columns=["meta", "kind", "tags"])
    assert [(row["tags"], row["meta"], row["kind"]) for row in rows] == [
        ('["a","b"]', '{"k":1}', "x"),
        (None, '{"k":null}', None),
    ]


def table_of(rows):
    return pa.table(
        {"n": list(range(rows)), "text": [f"text {n}" for n in range(rows)], "tags": [[n] for n in range(rows)]}
    )


def test_arrow_round_trip_and_batches(tmp_path):
    path = tmp_path / "a.arrow"
    table = table_of(5000)
    assert write_arrow(table, str(path)) == path.stat().st_size
    rows, bad = read(read_arrow, path, batch_bytes=20_000)
    assert not bad
    assert [row["n"] for row in rows] == [row["_row"] for row in rows] == list(range(5000))
    (selected,) = read_arrow(FileSlice(str(path)), columns=["text", "nope"])
    assert selected.column_names == ["text", "nope", "_source", "_row"]


def test_arrow_streams_are_read_too(tmp_path):
    path = tmp_path / "stream.arrow"
    table = table_of(100)
    with path.open("wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    rows, bad = read(read_arrow, path)
    assert [row["n"] for row in rows] == list(range(100))
    path.write_bytes(path.read_bytes()[:-300])
    rows, bad = read(read_arrow, path)
    assert len(rows) == 90
    assert [record.error_type for record in bad] == ["CorruptArrow"]


def test_a_corrupt_arrow_batch_is_reported_and_the_others_come_out(tmp_path):
    path = tmp_path / "corrupt.arrow"
    table = pa.table({"text": ["é" * 10] * 30})
    with path.open("wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    data = bytearray(path.read_bytes())
    first = data.find("é".encode() * 10)
    second = data.find("é".encode() * 10, first + 400)
    data[second] = 0xFF
    path.write_bytes(data)
    rows, bad = read(read_arrow, path)
    assert len(rows) == 20
    assert [(record.error_type, record.row) for record in bad] == [("CorruptArrow", 10)]


def test_what_is_no_arrow_file_is_a_clear_error(tmp_path):
    for content in (b"", b"ARROW1", b"something else entirely"):
        (tmp_path / "no.arrow").write_bytes(content)
        with pytest.raises(DataError, match="not a readable Arrow file"):
            read(read_arrow, tmp_path / "no.arrow")


@pytest.mark.parametrize("damaged", [b"outer", b"inner", b"UTCX", b"items"])
def test_a_schema_with_names_that_are_not_text_is_a_clear_error(tmp_path, damaged):
    inner = pa.struct([("inner", pa.timestamp("us", "UTCX")), ("list", pa.list_(pa.field("items", pa.int8())))])
    path = tmp_path / "names.arrow"
    with path.open("wb") as file, pa.ipc.new_stream(file, pa.schema([("outer", inner)])):
        pass
    path.write_bytes(path.read_bytes().replace(damaged, b"\x80" + damaged[1:]))
    with pytest.raises(DataError, match="the schema is corrupt"):
        read(read_arrow, path)


def test_an_absurd_claim_of_memory_is_about_the_file(tmp_path):
    path = tmp_path / "claim.arrow"
    table = pa.table({"text": ["some text that is long enough to be compressed " * 10] * 100})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with path.open("wb") as file, pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table)
    data = path.read_bytes()
    # A compressed buffer starts with its decompressed length, in eight bytes, before zstd's magic number.
    start = data.index(b"\x28\xb5\x2f\xfd") - 8
    path.write_bytes(data[:start] + (2**58).to_bytes(8, "little") + data[start + 8 :])
    rows, bad = read(read_arrow, path)
    assert not rows
    assert [record.error_type for record in bad] == ["DecompressionBomb"]
