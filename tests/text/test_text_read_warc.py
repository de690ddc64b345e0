"""Web pages from WARC files: every compression, every charset, damage and bombs."""

import base64
import gzip
import hashlib
import zlib

import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.files.compression import zstd_module
from curator_core.values.errors import ConfigError
from curator_text import DocumentBatch, ReadWarc

PAGE = "<html><title>{0}</title><p>Größe {0}</p></html>"
COMPRESSIONS = {".warc": bytes, ".warc.gz": gzip.compress, ".warc.zst": lambda data: zstd_module().compress(data)}


def record(block, *, kind="response", number=0, content_type="application/http; msgtype=response", digest=True):
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{number}>",
        f"WARC-Target-URI: http://example.org/{number}",
        "WARC-Date: 2026-11-16T10:00:00Z",
    ]
    if digest:
        lines.append(f"WARC-Block-Digest: sha1:{base64.b32encode(hashlib.sha1(block).digest()).decode()}")
    lines += [f"Content-Type: {content_type}", f"Content-Length: {len(block)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body, content_type="text/html; charset=utf-8", *headers, status=200):
    lines = [f"HTTP/1.1 {status} Some Words", f"Content-Type: {content_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def page(number, **kwargs):
    return record(http(PAGE.format(number).encode()), number=number, **kwargs)


def read(path, **kwargs):
    result = Pipeline(stages=[ReadWarc(str(path), **kwargs)]).run(LocalExecutor(max_attempts=1))
    return [row for batch in result for row in batch.data.to_pylist()], result.quarantined


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_pages_come_out_with_their_place_in_the_file(extension, tmp_path):
    compress = COMPRESSIONS[extension]
    members = [compress(record(b"software: x\r\n", kind="warcinfo", content_type="application/warc-fields"))]
    members += [compress(page(number)) for number in range(5)]
    path = tmp_path / f"a{extension}"
    path.write_bytes(b"".join(members))
    rows, quarantined = read(tmp_path)
    assert not quarantined
    assert [row["html"] for row in rows] == [PAGE.format(number) for number in range(5)]
    places = [sum(map(len, members[: number + 1])) for number in range(5)]
    assert rows[3] == {
        "html": PAGE.format(3),
        "url": "http://example.org/3",
        "date": "2026-11-16T10:00:00Z",
        "content_type": "text/html; charset=utf-8",
        "warc_id": "urn:uuid:3",
        "status": 200,
        "_source": str(path),
        "_row": places[3],
    }
    assert [row["_row"] for row in rows] == places


def test_batches_are_documents_of_the_size_asked_for(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"".join(gzip.compress(page(number)) for number in range(50)))
    result = Pipeline(stages=[ReadWarc(str(tmp_path), block_bytes=500)]).run()
    assert all(isinstance(batch, DocumentBatch) for batch in result)
    assert len(result) > 3
    assert sum(batch.num_rows for batch in result) == 50


def test_a_file_compressed_as_a_whole_is_numbered_by_record(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"".join(page(number) for number in range(5))))
    rows, _ = read(tmp_path)
    assert [row["_row"] for row in rows] == [0, 1, 2, 3, 4]


def test_a_large_file_compressed_as_a_whole_is_streamed(tmp_path):
    data = b"".join(page(number) for number in range(5_000))
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(data, 1))
    rows, quarantined = read(tmp_path, max_record_bytes=1000)  # so that a member of this size is not held
    assert (len(rows), quarantined) == (5_000, [])
    assert [row["warc_id"] for row in rows] == [f"urn:uuid:{number}" for number in range(5_000)]


def test_zstd_files_with_a_dictionary(tmp_path):
    zstd = zstd_module()
    records = [page(number) for number in range(50)]
    dictionary = zstd.train_dict(records, 1000)
    for name, content in (("plain", dictionary.dict_content), ("packed", zstd.compress(dictionary.dict_content))):
        frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
        frames = [zstd.compress(each, zstd_dict=dictionary) for each in records]
        (tmp_path / f"{name}.warc.zst").write_bytes(frame + b"".join(frames))
        rows, quarantined = read(tmp_path / f"{name}.warc.zst")
        assert (len(rows), quarantined) == (50, [])
        assert rows[0]["_row"] == len(frame)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Größe".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ("<p>Größe".encode(), "text/html"),
        ("\ufeff<p>Größe and more".encode("utf-16-le"), "text/html; charset=utf-8"),
        ('<meta charset="windows-1252"><p>Größe'.encode("cp1252"), "text/html"),
        ('<meta charset="utf-16"><p>Größe'.encode(), "text/html"),
        ("<p>Größe".encode("cp1252"), "text/html; charset=utf-8"),
        ("<p>Größe".encode(), 'text/html; charset="nonsense"'),
    ],
)
def test_pages_are_decoded_as_declared_or_as_they_look(body, content_type, tmp_path):
    (tmp_path / "a.warc").write_bytes(
        record(http(body if b"\0" in body else body + b" and more words" * 9, content_type))
    )
    ((row,), _) = read(tmp_path)
    assert "<p>Größe and more" in row["html"]


def test_raw_pages_are_bytes(tmp_path):
    body = "<p>Größe".encode("latin-1")
    (tmp_path / "a.warc").write_bytes(record(http(body)))
    ((row,), _) = read(tmp_path, raw=True)
    assert row["html"] == body


def test_http_encodings_are_undone(tmp_path):
    packed = gzip.compress(b"<p>packed</p>")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    bodies = [
        http(packed, "text/html", "Content-Encoding: gzip"),
        http(chunked, "text/html", "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
        http(zlib.compress(b"<p>packed</p>"), "text/html", "Content-Encoding: deflate"),
        http(b"<p>packed</p>", "text/html", "Content-Encoding: gzip"),  # undone by the crawler, the header kept
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(map(record, bodies)))
    rows, quarantined = read(tmp_path)
    assert ([row["html"] for row in rows], quarantined) == (["<p>packed</p>"] * 4, [])


def test_only_the_records_asked_for_come_out(tmp_path):
    (tmp_path / "a.warc").write_bytes(
        page(1)
        + record(http(b"GIF89a", "image/gif"), number=2)
        + record(b"GET / HTTP/1.1\r\n\r\n", kind="request", number=3)
        + record(b"plain words", kind="conversion", number=4, content_type="text/plain")
        + record(http(b"<p>xhtml", "Application/XHTML+xml"), number=5)
    )
    assert [row["warc_id"] for row in read(tmp_path)[0]] == ["urn:uuid:1", "urn:uuid:5"]
    ((row,), _) = read(tmp_path, record_types=["conversion"], mime_types=["text/plain"])
    assert (row["html"], row["content_type"], row["status"]) == ("plain words", "text/plain", None)
    assert len(read(tmp_path, mime_types=[], raw=True)[0]) == 3
    with pytest.raises(ConfigError, match="record_types"):
        ReadWarc("a.warc", record_types=["responses"])


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_a_damaged_record_costs_itself_only(extension, tmp_path):
    members = [COMPRESSIONS[extension](page(number)) for number in range(7)]
    damaged = bytearray(members[3])
    damaged[-20] ^= 0x55
    start = sum(map(len, members[:3]))
    path = tmp_path / f"a{extension}"
    path.write_bytes(b"".join([*members[:3], bytes(damaged), *members[4:]]))
    rows, (problem,) = read(tmp_path)
    assert [row["warc_id"] for row in rows] == [f"urn:uuid:{number}" for number in (0, 1, 2, 4, 5, 6)]
    assert (problem.source, problem.row) == (str(path), start)
    assert problem.error_type in ("CorruptFile", "CorruptWarc")


@pytest.mark.parametrize(
    "garbage", [b"garbage" * 30, b"WARC/1.0\r\nno length\r\n\r\n", b"WARC/1.0\r\nContent-Length: 9"]
)
def test_garbage_between_plain_records(garbage, tmp_path):
    (tmp_path / "a.warc").write_bytes(page(0) + page(1) + garbage + b"\r\n\r\n" + page(2))
    rows, (problem,) = read(tmp_path)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:0", "urn:uuid:1", "urn:uuid:2"]
    assert problem.row == len(page(0) + page(1))


def test_a_wrong_length_does_not_swallow_the_next_record(tmp_path):
    wrong = page(1).replace(b"\r\nContent-Length: 1", b"\r\nContent-Length: 2")
    assert wrong != page(1)
    (tmp_path / "a.warc").write_bytes(page(0) + wrong + page(2) + page(3))
    rows, (problem,) = read(tmp_path)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:0", "urn:uuid:2", "urn:uuid:3"]
    assert problem.row == len(page(0))


def test_a_header_without_an_end_does_not_swallow_the_next_record(tmp_path):
    torn = record(b"fields", kind="metadata", number=1)[:60] + bytes(20)
    (tmp_path / "a.warc").write_bytes(page(0) + torn + page(2) + page(3))
    rows, (problem,) = read(tmp_path)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:0", "urn:uuid:2", "urn:uuid:3"]
    assert problem.row == len(page(0))


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_a_torn_file_gives_its_whole_records(extension, tmp_path):
    data = b"".join(COMPRESSIONS[extension](page(number)) for number in range(5))
    (tmp_path / f"a{extension}").write_bytes(data[:-40])
    rows, (problem,) = read(tmp_path)
    assert len(rows) == 4
    assert problem.error_type == "TornFile"


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_a_long_record_is_skipped_and_reported(extension, tmp_path):
    compress = COMPRESSIONS[extension]
    huge = record(http(b"<p>" + bytes(range(65, 91)) * 100_000), number=9)
    (tmp_path / f"a{extension}").write_bytes(compress(page(0)) + compress(huge) + compress(page(1)))
    rows, (problem,) = read(tmp_path, max_record_bytes=1_000_000)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:0", "urn:uuid:1"]
    assert (problem.row, problem.error_type) == (len(compress(page(0))), "RecordTooLong")


def test_bombs_are_stopped(tmp_path):
    inner = record(http(gzip.compress(bytes(3_000_000)), "text/html", "Content-Encoding: gzip"), number=8)
    outer = record(http(bytes(80_000_000)), number=9, digest=False)
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(inner) + gzip.compress(outer, 1) + gzip.compress(page(1)))
    rows, problems = read(tmp_path, max_record_bytes=1_000_000, max_expansion=100)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:1"]
    assert [problem.error_type for problem in problems] == ["RecordTooLong", "DecompressionBomb"]


def test_digests_are_checked_unless_told_otherwise(tmp_path):
    wrong = page(1).replace("Größe".encode(), "Grüße".encode())
    (tmp_path / "a.warc").write_bytes(page(0) + wrong)
    assert [len(each) for each in read(tmp_path)] == [1, 1]
    assert [len(each) for each in read(tmp_path, verify=False)] == [2, 0]


def test_a_file_that_is_no_archive_is_reported(tmp_path):
    (tmp_path / "a.warc").write_bytes(b"<html>not an archive</html>" * 99)
    (tmp_path / "b.warc").write_bytes(b"")
    (tmp_path / "c.warc").write_bytes(page(0))
    rows, (problem,) = read(tmp_path)
    assert len(rows) == 1
    assert (problem.source, problem.row) == (str(tmp_path / "a.warc"), 0)


def test_a_broken_http_response_is_quarantined(tmp_path):
    (tmp_path / "a.warc").write_bytes(
        record(b"\x00\x01\x02", number=1)
        + record(http(b"\x00\x01zz", "text/html", "Transfer-Encoding: chunked", "Content-Encoding: gzip"), number=2)
        + page(3)
    )
    rows, problems = read(tmp_path)
    assert [row["warc_id"] for row in rows] == ["urn:uuid:3"]
    assert [problem.error_type for problem in problems] == ["CorruptWarc", "CorruptWarc"]


def test_a_file_of_nothing_but_damage_is_given_up(tmp_path):
    (tmp_path / "a.warc").write_bytes(b"WARC/1.0\r\nno: length\r\n\r\n" * 1500 + page(0))
    rows, problems = read(tmp_path)
    assert not rows
    assert len(problems) == 1001
    assert "given up" in problems[-1].message


def test_records_of_a_member_keep_places_of_their_own(tmp_path):
    tiny = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(tiny * 50_000, 9) + gzip.compress(page(1)))
    rows, problems = read(tmp_path, record_types=["resource", "response"])
    assert len({row["_row"] for row in rows}) == len(rows)
    assert rows[-1]["warc_id"] == "urn:uuid:1"
    assert [problem.error_type for problem in problems] == ["DecompressionBomb"]
