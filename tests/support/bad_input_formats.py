"""The formats that mutants are made of: sound files, and what may come out of a damaged one.

A judge gets a mutant, the rows and the quarantine records that came of it, and returns what is wrong with them, or None
if every row is right and everything lost is accounted for.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import hashlib
import io
import json
import lzma
import zlib
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.files.compression import open_compressed, zstd_module
from curator_table import write_arrow, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.mutation import Mutant

__all__ = ["Judged", "Sample", "formats"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A sound file: its bytes, and its rows by their number or offset."""

    data: bytes
    rows: dict[int, Row]
    text: bytes = b""  # decompressed, for formats of lines


@dataclass(frozen=True)
class Judged:
    """A format, how its sound files are made, and what a mutant's rows and records must be.

    Args:
        name: What the table of results calls it.
        reader: Name of the table format that reads it.
        extension: Of its files.
        make: Makes a sample from a number; different numbers give different rows.
        judge: Returns what is wrong, or None.
    """

    name: str
    reader: str
    extension: str
    make: Callable[[int], Sample]
    judge: Callable[[Mutant, Sample, list[Row], list[Any]], str | None]


def records(number: int, count: int = 60) -> list[Row]:
    """Rows with text that hardly compresses, text that does, numbers, nulls, lists and objects."""
    rows = []
    for index in range(count):
        digest = hashlib.sha256(f"{number}/{index}".encode()).hexdigest()
        rows.append(
            {
                "id": number * 1000 + index,
                "text": f"Größe {digest} " + "again and again " * (index % 5),
                "score": None if index % 7 == 0 else index / 8,
                "tags": [digest[:4], digest[4:6]][: index % 3],
                "meta": {"lang": "en" if index % 2 else "日本語", "n": index},
                "flag": index % 3 == 0,
            }
        )
    return rows


def table_of(number: int, count: int = 60) -> pa.Table:
    return pa.Table.from_pylist(records(number, count))


def jsonl_sample(number: int, compress: Callable[[bytes], bytes] = bytes) -> Sample:
    rows, text = {}, b""
    for row in records(number):
        rows[len(text)] = row
        text += json.dumps(row, ensure_ascii=bool(row["id"] % 2)).encode() + b"\n"
    return Sample(compress(text), rows, text)


def zstd(data: bytes) -> bytes:
    sink = io.BytesIO()
    with open_compressed(sink, "a.zst") as stream:
        stream.write(data)
    return sink.getvalue()


def csv_sample(number: int) -> Sample:
    rows, lines = {}, ["id,text,note"]
    for index, row in enumerate(records(number)):
        note = 'two\nlines, "quoted"' if index % 6 == 0 else "plain"
        rows[index] = {"id": str(row["id"]), "text": row["text"], "note": note}
        quoted = '"two\nlines, ""quoted"""' if index % 6 == 0 else note
        lines.append(f"{row['id']},{row['text']},{quoted}")
    return Sample(("\n".join(lines) + "\n").encode(), rows)


def parquet_sample(number: int, folder: Path) -> Sample:
    path = folder / f"sample-{number}.parquet"
    table = table_of(number, 150)
    write_parquet(table, str(path))
    return Sample(path.read_bytes(), dict(enumerate(table.to_pylist())))


def arrow_sample(number: int, folder: Path) -> Sample:
    path = folder / f"sample-{number}.arrow"
    table = table_of(number, 150)
    write_arrow(table, str(path))
    return Sample(path.read_bytes(), dict(enumerate(table.to_pylist())))


def foreign_parquet_sample(number: int) -> Sample:
    """A Parquet file of another writer: no checksums, other codecs and encodings."""
    table, sink = table_of(number, 150).append_column("small", pa.array(range(150), pa.int16())), io.BytesIO()
    table = table.append_column("kind", pa.array(["a", "b", "c"] * 50).dictionary_encode())
    options: list[dict[str, Any]] = [
        {"compression": "snappy"},
        {"compression": "gzip", "data_page_version": "2.0", "write_page_index": True},
        {"compression": "none", "use_dictionary": False, "column_encoding": {"id": "DELTA_BINARY_PACKED"}},
        {"compression": "lz4", "use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
        {"compression": "zstd", "use_dictionary": False, "column_encoding": {"score": "BYTE_STREAM_SPLIT"}},
        {"compression": "brotli", "version": "1.0", "row_group_size": 7},
    ]
    pq.write_table(table, sink, **{"row_group_size": 64, **options[number % len(options)]})
    return Sample(sink.getvalue(), dict(enumerate(table.to_pylist())))


def foreign_arrow_sample(number: int) -> Sample:
    """An Arrow file or stream of another writer: no seal."""
    table, sink = table_of(number, 150), io.BytesIO()
    table = table.append_column("kind", pa.array(["a", "b", "c"] * 50).dictionary_encode())
    compression = [None, "zstd", "lz4"][number % 3]
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
    new = pa.ipc.new_stream if number % 4 == 3 else pa.ipc.new_file
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=40)
    return Sample(sink.getvalue(), dict(enumerate(table.to_pylist())))


def warc_sample(number: int, compress: Callable[[bytes], bytes] = bytes) -> Sample:
    """Web pages with digests, each in a member of its own, between records that no row is made of."""
    fields = "application/warc-fields"
    rows, data = {}, compress(warc_record("warcinfo", f"info-{number}", b"software: sample\r\n", fields))
    for index, row in enumerate(records(number, 40)):
        html = f"<html><title>{row['id']}</title><p>{row['text']}"
        encoding = "latin-1" if index % 5 == 0 else "utf-8"
        page = {
            "html": html,
            "url": f"http://example.org/{row['id']}",
            "date": "2026-11-16T10:00:00Z",
            "content_type": f"text/html; charset={encoding}",
            "warc_id": f"urn:page:{row['id']}",
            "status": 404 if index % 9 == 0 else 200,
        }
        head = f"HTTP/1.1 {page['status']} Some Words\r\nContent-Type: {page['content_type']}\r\n\r\n"
        block = head.encode() + html.encode(encoding)
        rows[len(data)] = page
        data += compress(warc_record("response", page["warc_id"], block, "application/http", page["url"]))
        data += compress(warc_record("metadata", f"meta-{row['id']}", b"fetchTimeMs: 1\r\n", fields))
    return Sample(data, rows)


def warc_record(kind: str, name: str, block: bytes, content_type: str, url: str = "http://example.org/") -> bytes:
    digest = base64.b32encode(hashlib.sha1(block).digest()).decode()
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{name}>\r\nWARC-Date: 2026-11-16T10:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Block-Digest: sha1:{digest}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def judge_lines(mutant: Mutant, _sample: Sample, rows: list[Row], records: list[Any]) -> str | None:
    """Every line that is a JSON object comes out with its value, every other is reported, each at its offset."""
    got, reported = {row["_row"]: row for row in rows}, {record.row for record in records}
    if len(got) != len(rows) or len(reported) != len(records):
        return "an offset comes twice"
    expected = dict(_lines(mutant.data))
    for offset, line in expected.items():
        value = _decoded(line)
        if value is None and (offset not in reported or offset in got):
            return f"the bad line at {offset} is not reported"
        if value is not None and (offset in reported or not _same_record(got.get(offset), value)):
            return f"the good line at {offset} came out as {got.get(offset)}"
    stray = (got.keys() | reported) - expected.keys()
    return f"offsets {sorted(stray)} are not those of lines" if stray else None


def judge_csv(mutant: Mutant, sample: Sample, rows: list[Row], _records: list[Any]) -> str | None:
    """Rows before the damage come out; rows after it too, unless it may have opened or closed a quotation."""
    header = sample.data.index(b"\n") + 1
    if mutant.kept_head <= header:
        return None
    ends = _csv_ends(sample.data)
    before = [row for row, end in sorted(ends.items()) if end <= mutant.kept_head]
    values = {row["_row"]: {name: row[name] for name in ("id", "text", "note")} for row in rows}
    for row in before:
        if values.get(row) != sample.rows[row]:
            return f"row {row} before the damage came out as {values.get(row)}"
    changed = mutant.data[mutant.kept_head : len(mutant.data) - mutant.kept_tail]
    removed = sample.data[mutant.kept_head : len(sample.data) - mutant.kept_tail]
    if {*b'"\r'} & {*changed, *removed} or _inside_quotes(sample.data, mutant.kept_head):
        return None
    first_after = len(sample.data) - mutant.kept_tail
    after = [row for row in sorted(ends) if (ends[row - 1] if row else header) > first_after]
    tail = [values[row] for row in sorted(values)][len(values) - len(after) :]
    if tail != [sample.rows[row] for row in after]:
        return f"the {len(after)} rows after the damage came out as {tail[:3]}…"
    return None


def judge_checksummed(_mutant: Mutant, sample: Sample, rows: list[Row], records: list[Any]) -> str | None:
    """Whatever comes out is what was written, at its place; if anything is missing, something is reported."""
    got = {row["_row"]: row for row in rows}
    for number, row in got.items():
        if not _same_record(row, sample.rows.get(number, {"row": "not in the file"})):
            return f"row {number} came out wrong: {row}"
    if len(got) != len(rows):
        return "a row comes twice"
    if len(got) < len(sample.rows) and not records:
        return f"{len(sample.rows) - len(got)} rows are missing and nothing is reported"
    return None


@cache
def known_pages() -> dict[str, Row]:
    """The pages of all samples, by their ids: a splice brings in those of another file."""
    return {page["warc_id"]: page for number in range(12) for page in warc_sample(number).rows.values()}


def judge_warc_members(mutant: Mutant, sample: Sample, rows: list[Row], records: list[Any]) -> str | None:
    """Checksums cover every byte: a page comes out as it was archived or not at all, and what is lost is reported."""
    for row in rows:
        if {name: row[name] for name in row if name not in ("_source", "_row")} != known_pages().get(row["warc_id"]):
            return f"the page at {row['_row']} came out wrong: {row}"
    if len({row["_row"] for row in rows}) != len(rows):
        return "a row comes twice"
    lost = {page["warc_id"] for page in sample.rows.values()} - {row["warc_id"] for row in rows}
    if lost and not records and not _is_sound(mutant.data):
        return f"{len(lost)} pages are missing and nothing is reported"
    return _missing_neighbours(mutant, sample, rows)


def judge_warc(mutant: Mutant, sample: Sample, rows: list[Row], _records: list[Any]) -> str | None:
    """Digests cover the content, not the headers: a page is one that was archived, under whatever address."""
    pages = {page["html"] for page in known_pages().values()}
    for row in rows:
        if row["html"] not in pages:
            return f"the page at {row['_row']} came out wrong: {row}"
    if len({row["_row"] for row in rows}) != len(rows):
        return "a row comes twice"
    return _missing_neighbours(mutant, sample, rows)


def _missing_neighbours(mutant: Mutant, sample: Sample, rows: list[Row]) -> str | None:
    """Pages before and behind the damage come out."""
    got, starts = {row["warc_id"] for row in rows}, sorted(sample.rows)
    before = [start for start, following in pairwise(starts) if following <= mutant.kept_head]
    behind = [start for start in starts if start >= len(sample.data) - mutant.kept_tail]
    missing = [start for start in before + behind if sample.rows[start]["warc_id"] not in got]
    return f"the sound pages at {missing} are missing" if missing else None


def _is_sound(data: bytes) -> bool:
    """Whether a file is nothing but whole members: cut between two of them, it is as good as any."""
    gzipped = data.startswith(b"\x1f\x8b")
    errors = (zlib.error, zstd_module().ZstdError, EOFError)
    while data:
        decoder = zlib.decompressobj(31) if gzipped else zstd_module().ZstdDecompressor()
        try:
            decoder.decompress(data)
        except errors:
            return False
        if not decoder.eof:
            return False
        data = decoder.unused_data
    return True


def judge_survival(_mutant: Mutant, _sample: Sample, rows: list[Row], _records: list[Any]) -> str | None:
    """The format has no checksums: values may be wrong, but each row has a place of its own."""
    return None if len({row["_row"] for row in rows}) == len(rows) else "a row comes twice"


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    offset, lines = 0, []
    if data.startswith(b"\xef\xbb\xbf"):
        offset, data = 3, data[3:]
    for line in data.split(b"\n"):
        if line.strip(b" \t\r"):
            lines.append((offset, line))
        offset += len(line) + 1
    return lines


def _decoded(line: bytes) -> Row | None:
    try:
        value = orjson.loads(line)
        json.loads(line, object_pairs_hook=_check_keys)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")


def _same_record(got: Row | None, want: Row) -> bool:
    if got is None:
        return False
    return all(_same(got.get(key), value) for key, value in want.items()) and all(
        value is None for key, value in got.items() if key not in want and key not in ("_source", "_row")
    )


def _same(got: Any, want: Any) -> bool:
    """Whether a value is the one written, or its JSON text, as in columns that mix types."""
    if isinstance(got, str) and not isinstance(want, str):
        try:
            return orjson.loads(got) == want
        except orjson.JSONDecodeError:
            return False
    if isinstance(want, dict) and isinstance(got, dict):
        return _same_record(got, want)
    if isinstance(want, list) and isinstance(got, list):
        return len(got) == len(want) and all(map(_same, got, want))
    return got == want


@cache
def _csv_ends(data: bytes) -> dict[int, int]:
    """Where each row of a sound CSV file ends, by its number."""
    ends, inside, row = {}, False, -1
    for position, byte in enumerate(data):
        inside ^= byte == ord('"')
        if byte == ord("\n") and not inside:
            ends[row] = position + 1
            row += 1
    del ends[-1]  # the header
    return ends


def _inside_quotes(data: bytes, position: int) -> bool:
    return data.count(b'"', 0, position) % 2 == 1


def formats(folder: Path) -> list[Judged]:
    """Return all formats; ``folder`` is for files that are made on the way."""
    codecs: dict[str, Callable[[bytes], bytes]] = {
        "gz": partial(gzip.compress, mtime=0),
        "zst": zstd,
        "bz2": bz2.compress,
        "xz": lzma.compress,
    }
    lines = [
        Judged(f"jsonl.{name}", "jsonl", f".jsonl.{name}", partial(jsonl_sample, compress=compress), judge_checksummed)
        for name, compress in codecs.items()
    ]
    return [
        Judged("jsonl", "jsonl", ".jsonl", jsonl_sample, judge_lines),
        *lines,
        Judged("csv", "csv", ".csv", csv_sample, judge_csv),
        Judged("parquet", "parquet", ".parquet", partial(parquet_sample, folder=folder), judge_checksummed),
        Judged("parquet, foreign", "parquet", ".parquet", foreign_parquet_sample, judge_survival),
        Judged("arrow", "arrow", ".arrow", partial(arrow_sample, folder=folder), judge_checksummed),
        Judged("arrow, foreign", "arrow", ".arrow", foreign_arrow_sample, judge_survival),
        Judged("warc", "warc", ".warc", warc_sample, judge_warc),
        Judged("warc.gz", "warc", ".warc.gz", partial(warc_sample, compress=codecs["gz"]), judge_warc_members),
        Judged("warc.zst", "warc", ".warc.zst", partial(warc_sample, compress=zstd), judge_warc_members),
    ]
