"""Files as users really have them: each gives the right rows, or a record with file, offset and reason."""

import gzip
import io
import os
import socket
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline, processing_stage
from curator_core.authoring.tasks import TableBatch
from curator_table import write_arrow, write_parquet
from tests.support.plain_readers import ReadArrow, ReadCsv, ReadLines, ReadParquet

GOOD = b'{"text": "good"}\n'


def run(reader, *more):
    """Return the texts that came out, and the records as file, offset and class of the error."""
    result = Pipeline("wrong", stages=[reader, *more]).run(LocalExecutor())
    texts = [text for batch in result for text in batch.data["text"].to_pylist()]
    assert all(record.source is not None and record.row is not None for record in result.quarantined)
    return texts, [(Path(record.source).name, record.row, record.error_type) for record in result.quarantined], result


def messages(result):
    return [record.message for record in result.quarantined]


@pytest.fixture
def folder(tmp_path):
    """A folder with a good file before and after the one that a test adds."""
    for name in ("a.jsonl", "z.jsonl"):
        (tmp_path / name).write_bytes(GOOD)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"text": "größer"}\n'.encode("utf-16"), "UTF-16"),
        ('{"text": "größer"}\n'.encode("utf-32"), "UTF-32"),
        (gzip.compress(GOOD, mtime=0), "gzip data"),
        (b"PK\x03\x04 and so on", "zip archive"),
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
    ],
    ids=["utf-16", "utf-32", "gzip", "zip", "png"],
)
def test_lines_that_are_something_else_are_reported_once_and_by_name(folder, content, what):
    (folder / "m.jsonl").write_bytes(content)
    texts, records, result = run(ReadLines(str(folder)))
    assert texts == ["good", "good"]
    assert records == [("m.jsonl", 0, "UnreadableFile")]
    assert what in messages(result)[0]


def test_tables_under_the_name_of_lines(folder):
    write_parquet(pa.table({"text": ["x"] * 100}), str(folder / "m.jsonl"))
    write_arrow(pa.table({"text": ["x"] * 100}), str(folder / "n.jsonl"))
    texts, records, result = run(ReadLines(str(folder)))
    assert texts == ["good", "good"]
    assert records == [("m.jsonl", 0, "UnreadableFile"), ("n.jsonl", 0, "UnreadableFile")]
    assert "Parquet" in messages(result)[0]
    assert "Arrow" in messages(result)[1]


def test_csv_that_is_something_else(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,PAR1\ngood,1\n")
    (tmp_path / "b.csv").write_text("text,n\ngood,1\n", encoding="utf-16")
    write_parquet(pa.table({"text": ["x"] * 100}), str(tmp_path / "c.csv"))
    texts, records, _ = run(ReadCsv(str(tmp_path)))
    assert texts == ["good"]
    assert records == [("b.csv", 0, "UnreadableFile"), ("c.csv", 0, "UnreadableFile")]


@pytest.mark.parametrize("name", ["b.csv", "b.csv.gz"])
@pytest.mark.parametrize(
    "content",
    [
        b'{"text": "one, two", "n": 1}\n{"text": "three", "n": 2}\n',
        b'\xef\xbb\xbf{"text": "one"}\r\n\r\n{"text": "two"}',
        b'{"text": "' + b"x, " * 500_000 + b'"}\n{"text": "two"}\n',
        b'{"text": "one"}',
    ],
    ids=["commas", "mark-and-blank", "long", "one-line"],
)
def test_lines_of_json_under_the_name_of_csv_are_no_rows(tmp_path, name, content):
    (tmp_path / "a.csv").write_bytes(b"text,n\ngood,1\n")
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    texts, records, result = run(ReadCsv([str(tmp_path / "a.csv"), str(tmp_path / name)]))
    assert texts == ["good"]
    assert records == [(name, 0, "UnreadableFile")]
    assert "this is JSON lines, not CSV" in messages(result)[0]
    assert "read_jsonl" in messages(result)[0]


@pytest.mark.parametrize(
    "content",
    [
        b'text,{"n"}\ngood,1\n',
        b'{"n": 1},text\n1,good\n',
        b"{},text\n{},good\n",
        b'"{""a"": 1}",text\n"{""a"": 2}",good\n',
    ],
)
def test_csv_with_braces_in_it_is_read(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content)
    assert run(ReadCsv(str(tmp_path)))[:2] == (["good"], [])


def test_csv_under_the_name_of_lines_is_reported_once(folder):
    (folder / "m.jsonl").write_bytes(b'id,text\n1,"one, two"\n2,"three\nfour"\n3,five\n')
    (folder / "n.jsonl").write_bytes(b"one\ntwo\n")  # could be anything
    texts, records, result = run(ReadLines(str(folder)))
    assert texts == ["good", "good"]
    assert records == [("m.jsonl", 0, "UnreadableFile"), ("n.jsonl", 0, "InvalidJson"), ("n.jsonl", 4, "InvalidJson")]
    assert "this looks like CSV, not JSON lines" in messages(result)[0]
    assert "read_csv" in messages(result)[0]


@pytest.mark.parametrize("reader", [ReadParquet, ReadArrow])
def test_lines_of_json_under_the_name_of_tables_are_named(tmp_path, reader):
    name = f"a.{reader.table_format.name}"
    (tmp_path / name).write_bytes(GOOD * 10)
    texts, records, result = run(reader(str(tmp_path)))
    assert (texts, records) == ([], [(name, 0, "UnreadableFile")])
    assert "this is JSON lines" in messages(result)[0]
    assert "read_jsonl" in messages(result)[0]


def test_names_that_promise_compression_that_is_not_there(folder):
    (folder / "m.jsonl.gz").write_bytes(GOOD)
    (folder / "n.jsonl.zst").write_bytes(gzip.compress(GOOD))
    texts, records, _ = run(ReadLines(str(folder)))
    assert texts == ["good", "good"]
    assert records == [("m.jsonl.gz", 0, "CorruptFile"), ("n.jsonl.zst", 0, "CorruptFile")]


def test_empty_files_are_no_error_and_a_folder_with_the_name_of_a_file_is_none(folder):
    (folder / "m.jsonl").write_bytes(b"")
    (folder / "n.jsonl").mkdir()
    texts, records, _ = run(ReadLines(str(folder)))
    assert (texts, records) == (["good", "good"], [])
    texts, records, _ = run(ReadLines(f"{folder}/*.jsonl"))
    assert (texts, records) == (["good", "good"], [])


def test_pipes_sockets_devices_and_broken_links_are_reported_and_not_opened(folder):
    os.mkfifo(folder / "m.jsonl")
    (folder / "n.jsonl").symlink_to(folder / "nowhere")
    (folder / "o.jsonl").symlink_to(folder / "o.jsonl")
    (folder / "p.jsonl").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "q.jsonl"))
        texts, records, result = run(ReadLines(str(folder)))
        followed, _, other = run(ReadLines(str(folder), follow_links=True))
    assert texts == followed == ["good", "good"]
    assert sorted(name for name, row, kind in records if (row, kind) == (0, "UnreadableFile")) == [
        "m.jsonl", "n.jsonl", "o.jsonl", "p.jsonl", "q.jsonl",
    ]  # fmt: skip
    found = " ".join(messages(result))
    assert all(word in found for word in ("a pipe", "No such file", "symbolic links", "leads out", "a socket"))
    assert "a device" in " ".join(messages(other))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission_are_reported(folder):
    (folder / "m.jsonl").write_bytes(GOOD)
    (folder / "m.jsonl").chmod(0)
    texts, records, _ = run(ReadLines(str(folder)))
    assert (texts, records) == (["good", "good"], [("m.jsonl", 0, "UnreadableFile")])


@pytest.mark.parametrize(
    "name",
    [
        "two\nlines.jsonl",
        "größe 日本語 \U0001f600.jsonl",
        "a::b.jsonl",
        "a*[1]?.jsonl",
        "100%.jsonl",
        "~x.jsonl",
        "#.jsonl",
    ],
)
def test_odd_names_are_read_and_kept_as_they_are(folder, name):
    (folder / name).write_bytes(GOOD + b"bad\n")
    texts, records, _ = run(ReadLines(str(folder)))
    assert texts == ["good"] * 3
    assert records == [(name, len(GOOD), "InvalidJson")]
    texts, records, result = run(ReadLines(str(folder / name)))
    assert texts == ["good"]
    assert result[0].data["_source"].to_pylist() == [str(folder / name)]


def test_a_name_that_is_not_utf8_is_reported_in_a_readable_form(folder):
    (folder / os.fsdecode(b"m\xff.jsonl")).write_bytes(GOOD)
    texts, records, _ = run(ReadLines(str(folder)))
    assert texts == ["good", "good"]
    assert records == [("m\\xff.jsonl", 0, "UnreadableFile")]


def test_a_file_that_shrinks_while_it_is_read_is_reported_where_it_ends(folder):
    path = folder / "m.jsonl"
    path.write_bytes(GOOD * 50_000)

    @processing_stage(name="shrink")
    def shrink(batch: TableBatch) -> TableBatch:
        if path.stat().st_size > 1000:
            os.truncate(path, 1000)
        return batch

    texts, records, _ = run(ReadLines(str(path), block_bytes=100_000), shrink)
    assert 100 < len(texts) < 50_000
    assert {(name, kind) for name, _, kind in records} == {("m.jsonl", "UnreadableFile"), ("m.jsonl", "TornFile")} or {
        kind for _, _, kind in records
    } == {"UnreadableFile"}


def test_a_file_that_disappears_is_reported(folder):
    (folder / "m.jsonl").write_bytes(GOOD * 50_000)

    @processing_stage(name="remove")
    def remove(batch: TableBatch) -> TableBatch:
        (folder / "z.jsonl").unlink(missing_ok=True)
        return batch

    texts, records, _ = run(ReadLines(str(folder), block_bytes=100_000), remove)
    assert len(texts) == 50_001
    assert records == [("z.jsonl", 0, "UnreadableFile")]


def test_lines_with_everything_that_can_be_wrong_with_one(tmp_path):
    lines = [
        (b'{"text": "crlf"}\r', "crlf"),
        (b'{"text": "nul \\u0000"}', "nul \0"),
        (b'{"text": "raw nul \x00"}', None),
        (b"\x00\x00\x00\x00", None),
        (b'{"text": "\\ud800"}', None),
        (b'{"text": "first", "text": "last"}', None),
        (b'{"text": "latin-1 \xe9"}', None),
        (b'{"text": 1e999}', None),
        (b'{"text": Infinity}', None),
        (b'{"text": "tab \t"}', None),
        (b'{"text": "open', None),
        (b'["text"]', None),
        (b'  {"text": "spaces"}  ', "spaces"),
        (b'{"text": "torn"', None),
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(line for line, _ in lines))
    texts, records, _ = run(ReadLines(str(path)))
    assert texts == [text for _, text in lines if text is not None]
    data = path.read_bytes()
    bad = [line for line, text in lines if text is None]
    assert [data[row:].split(b"\n")[0] for _, row, _ in records] == bad


def test_numbers_beyond_every_type_are_reported_or_kept_as_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": 123456789012345678901234567890}\n{"text": 1}\n')
    texts, records, _ = run(ReadLines(str(tmp_path)))
    assert (texts, records) == ([1], [("a.jsonl", 0, "WrongType")])
    texts, records, _ = run(ReadLines(str(tmp_path), schema={"text": "json"}))
    assert (texts, records) == (["123456789012345678901234567890", "1"], [])


def test_csv_rows_that_are_ragged_unquoted_and_not_utf8_at_once(tmp_path):
    good = b"good,1\n" * 3
    (tmp_path / "a.csv").write_bytes(b"text,n\n" + good + b"ragged \xff,1,2\n" + good + b"\xe9\n" + good)
    texts, records, result = run(ReadCsv(str(tmp_path)))
    assert texts == ["good"] * 9
    assert records == [("a.csv", 3, "WrongFieldCount"), ("a.csv", 7, "WrongFieldCount")]
    assert result.quarantined[0].payload.startswith("base64:")


def test_a_quotation_that_is_never_closed_is_reported_where_it_begins(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'text,n\ngood,1\n"a\nb",2\nopen,"3\ngood,4\ngood,5\n')
    texts, records, result = run(ReadCsv(str(tmp_path)))
    assert texts == ["good", "a\nb"]
    assert records == [("a.csv", 2, "UnclosedQuotation")]
    assert "never closed" in messages(result)[0]


def test_csv_with_nul_bytes_crlf_and_a_byte_order_mark(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbftext,n\r\na\x00b,1\r\nc,2\r\n")
    assert run(ReadCsv(str(tmp_path)))[:2] == (["a\0b", "c"], [])


def test_a_csv_file_with_very_many_ragged_rows_gives_a_bounded_number_of_reports(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text,n\n" + b"x\n" * 20_000 + b"good,1\n")
    texts, records, result = run(ReadCsv(str(tmp_path)))
    assert texts == ["good"]
    assert len(records) == 1001
    assert "19,000 more rows" in messages(result)[-1]


def test_a_shrinking_csv_file_is_reported(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,n\n" + b"good,%01000d\n" % 1 * 20_000)

    @processing_stage(name="shrink")
    def shrink(batch: TableBatch) -> TableBatch:
        os.truncate(path, 10_000_000)
        return batch

    texts, records, _ = run(ReadCsv(str(path), block_bytes=50_000), shrink)
    assert 0 < len(texts) < 20_000
    assert records == [("a.csv", len(texts), "TornFile")]


def test_a_parquet_file_cut_short_or_of_another_kind(tmp_path):
    write_parquet(pa.table({"text": ["good"]}), str(tmp_path / "a.parquet"))
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-1])
    (tmp_path / "c.parquet").write_bytes(GOOD)
    (tmp_path / "d.parquet").write_bytes(b"")
    texts, records, _ = run(ReadParquet(str(tmp_path)))
    assert texts == ["good"]
    assert records == [(f"{stem}.parquet", 0, "UnreadableFile") for stem in "bcd"]


def test_limits_can_be_raised_where_they_are_met(tmp_path):
    long = b'{"text": "' + b"x" * 5000 + b'"}\n'
    (tmp_path / "a.jsonl").write_bytes(long)
    texts, records, result = run(ReadLines(str(tmp_path), max_record_bytes=1000))
    assert (texts, records) == ([], [("a.jsonl", 0, "RecordTooLong")])
    assert "max_record_bytes" in messages(result)[0]
    assert run(ReadLines(str(tmp_path), max_record_bytes=10_000))[0] == ["x" * 5000]


def test_members_of_archives_are_streamed_and_links_out_of_them_lead_nowhere(tmp_path):
    (tmp_path / "secret.jsonl").write_bytes(b'{"text": "secret"}\n')
    inside = tmp_path / "inside"
    inside.mkdir()
    with tarfile.open(inside / "a.tar", "w") as archive:
        for name in ("good.jsonl", "../../escaped.jsonl"):
            member = tarfile.TarInfo(name)
            member.size = len(GOOD)
            archive.addfile(member, io.BytesIO(GOOD))
        for name, target in (("link.jsonl", "../secret.jsonl"), ("abs.jsonl", str(tmp_path / "secret.jsonl"))):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    before = sorted(path for path in tmp_path.rglob("*"))
    texts, _, result = run(ReadLines(f"tar://*.jsonl::{inside}/a.tar"))
    assert texts == ["good"]
    assert [record.source.split("::")[0] for record in result.quarantined] == ["tar://abs.jsonl", "tar://link.jsonl"]
    assert all("not found" in message for message in messages(result))
    assert sorted(path for path in tmp_path.rglob("*")) == before
