"""Compressed files: every codec round-trips, several members are read through, tears and bombs are contained."""

import bz2
import gzip
import io
import lzma

import pyarrow as pa
import pytest

from curator_core.authoring.recording import Recording
from curator_core.authoring.tasks import FileSlice
from curator_core.files.compression import open_compressed
from curator_core.files.decompression import Decompressor
from curator_core.files.limits import Limits
from curator_core.values.errors import DataError
from curator_table import read_csv, read_jsonl, write_csv, write_jsonl
from tests.support.peak_memory import forget_peak, peak_mib


def zstd(data):
    file = io.BytesIO()
    with open_compressed(file, "a.zst") as stream:
        stream.write(data)
    return file.getvalue()


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
every_codec = pytest.mark.parametrize("codec", COMPRESS)


def lines(count, start=0):
    # Digests do not repeat, so that the compressed data has many blocks to tear.
    import hashlib

    return [f'{{"n": {n}, "text": "{hashlib.sha256(b"%d" % n).hexdigest()}"}}\n' for n in range(start, start + count)]


def read(path, reader=read_jsonl, **options):
    recording = Recording()
    with recording.active():
        tables = list(reader(FileSlice(str(path)), **options))
    return [row for table in tables for row in table.to_pylist()], recording.bad_records


@every_codec
@pytest.mark.parametrize(
    ("reader", "writer", "inner"), [(read_jsonl, write_jsonl, "jsonl"), (read_csv, write_csv, "csv")]
)
def test_round_trip_and_same_bytes_every_time(tmp_path, codec, reader, writer, inner):
    table = pa.table({"text": [f"line {n}\n“quoted”" for n in range(5000)]})
    path = tmp_path / f"a.{inner}.{codec}"
    size = writer(table, str(path))
    assert size == path.stat().st_size
    rows, bad = read(path, reader)
    assert not bad
    assert [row["text"] for row in rows] == table["text"].to_pylist()
    again = tmp_path / f"b.{inner}.{codec}"
    writer(table, str(again))
    assert again.read_bytes() == path.read_bytes()


@every_codec
def test_several_members_and_offsets_of_the_decompressed_text(tmp_path, codec):
    compress = COMPRESS[codec]
    text = "".join(lines(3000))
    cut = len(text) // 2 + 7
    path = tmp_path / f"members.jsonl.{codec}"
    path.write_bytes(compress(text[:cut].encode()) + compress(b"") + compress(text[cut:].encode()))
    rows, bad = read(path, batch_bytes=50_000)
    assert not bad
    assert [row["n"] for row in rows] == list(range(3000))
    assert all(text[row["_row"] :].startswith(f'{{"n": {row["n"]},') for row in rows)


@every_codec
@pytest.mark.parametrize("fraction", [0.02, 0.5, 0.9, 0.999])
def test_unverified_a_truncated_file_gives_all_whole_records_before_the_tear(tmp_path, codec, fraction):
    text = "".join(lines(20_000)).encode()
    whole = COMPRESS[codec](text)
    torn = whole[: int(len(whole) * fraction)]
    path = tmp_path / f"torn.jsonl.{codec}"
    path.write_bytes(torn)

    rows, bad = read(path, batch_bytes=200_000, limits=Limits(verify=False))

    decodable = decode_as_far_as_possible(codec, torn)
    assert [row["n"] for row in rows] == list(range(decodable.count(b"\n")))
    assert [record.error_type for record in bad] == ["TornFile"]
    assert bad[0].row == decodable.rfind(b"\n") + 1
    assert bad[0].payload == (decodable[bad[0].row :][:256] or None)


@every_codec
def test_nothing_of_a_damaged_member_comes_out_and_the_members_before_it_do(tmp_path, codec):
    parts = [COMPRESS[codec]("".join(lines(2000, start)).encode()) for start in (0, 2000)]
    first_bytes = len("".join(lines(2000)))
    path = tmp_path / f"damaged.jsonl.{codec}"
    middle = len(parts[1]) // 2
    flipped = parts[1][:middle] + bytes([parts[1][middle] ^ 0x10]) + parts[1][middle + 1 :]
    for damaged in (flipped, parts[1][:middle]):
        path.write_bytes(parts[0] + damaged)
        rows, bad = read(path)
        assert [row["n"] for row in rows] == list(range(2000))
        assert [(record.error_type in ("TornFile", "CorruptFile"), record.row) for record in bad] == [
            (True, first_bytes)
        ]
        assert "verify: false" in bad[0].message


@every_codec
def test_a_file_too_long_to_be_kept_is_verified_too(tmp_path, codec, monkeypatch):
    monkeypatch.setattr("curator_core.files.decompression._HELD_BYTES", 100_000)
    text = "".join(lines(20_000)).encode()
    path = tmp_path / f"long.jsonl.{codec}"
    path.write_bytes(COMPRESS[codec](text))
    rows, bad = read(path, batch_bytes=50_000)
    assert ([row["n"] for row in rows], bad) == (list(range(20_000)), [])
    path.write_bytes(COMPRESS[codec](text) + COMPRESS[codec](text)[:-20])
    rows, bad = read(path, batch_bytes=50_000)
    assert [row["n"] for row in rows] == list(range(20_000))
    assert [(record.error_type, record.row) for record in bad] == [("TornFile", len(text))]


@every_codec
@pytest.mark.parametrize("content", [b"", b'{"n": 1}\n', b"PAR1 and more"])
def test_what_is_not_compressed_is_reported_at_its_start(tmp_path, codec, content):
    path = tmp_path / f"not.jsonl.{codec}"
    path.write_bytes(content)
    rows, bad = read(path)
    assert not rows
    assert [(record.source, record.row) for record in bad] == [(str(path), 0)]


def decode_as_far_as_possible(codec, data):
    """Decode with one-byte reads of the reference library."""
    if codec == "zst":
        stream, out = pa.CompressedInputStream(pa.BufferReader(data), "zstd"), bytearray()
        try:
            while byte := stream.read(1):
                out += byte
        except OSError:
            pass
        return bytes(out)
    import zlib

    new = {"gz": lambda: zlib.decompressobj(31), "bz2": bz2.BZ2Decompressor, "xz": lzma.LZMADecompressor}
    return new[codec]().decompress(data)


@every_codec
def test_garbage_after_the_data_is_reported_and_zero_padding_is_not(tmp_path, codec):
    data = COMPRESS[codec]("".join(lines(50)).encode())
    path = tmp_path / f"tail.jsonl.{codec}"
    path.write_bytes(data + b"garbage " * 20)
    rows, bad = read(path)
    assert len(rows) == 50
    assert [record.error_type for record in bad] in (["TornFile"], ["CorruptFile"])
    if codec != "zst":
        path.write_bytes(data + bytes(1000))
        assert read(path) == (rows, [])


@every_codec
def test_a_bomb_is_stopped_early_and_in_little_memory(tmp_path, codec):
    bomb = COMPRESS[codec](bytes(20 * 2**20)) * 10
    stream = Decompressor(io.BytesIO(bomb), f"bomb.{codec}", Limits(max_expansion=100, expansion_floor_bytes=2**20))
    given = []

    def read_all():
        while data := stream.read(2**20):
            given.append(len(data))

    with pytest.raises(DataError, match="bomb"):
        read_all()
    assert sum(given) <= 100 * len(bomb) + 2**21


def test_a_bomb_in_one_line_is_read_in_bounded_memory(tmp_path):
    path = tmp_path / "line.jsonl.zst"
    path.write_bytes(b"".join([zstd(b'{"a": "')] + [zstd(b"x" * 2**24)] * 40 + [zstd(b'"}\n{"a": "after"}\n')]))
    forget_peak()
    before = peak_mib()
    limits = Limits(max_record_bytes=2**22, max_expansion=10**6)
    rows, bad = read(path, batch_bytes=2**22, limits=limits)
    grown_mib = peak_mib() - before
    assert [row["a"] for row in rows] == ["after"]
    assert [record.error_type for record in bad] == ["RecordTooLong"]
    assert grown_mib < 200  # the line has 640 MiB


def test_torn_csv_gives_the_rows_before_the_tear(tmp_path):
    text = "n,text\n" + "".join(f'{n},"{n * 7919}\nsecond line"\n' for n in range(5000))
    whole = gzip.compress(text.encode())
    path = tmp_path / "torn.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    rows, bad = read(path, read_csv, batch_bytes=5000)
    assert (rows, [(record.error_type, record.row) for record in bad]) == ([], [("TornFile", 0)])
    rows, bad = read(path, read_csv, batch_bytes=5000, limits=Limits(verify=False))
    assert 1000 < len(rows) < 4000
    assert [(row["n"], row["text"], row["_row"]) for row in rows] == [
        (str(n), f"{n * 7919}\nsecond line", n) for n in range(len(rows))
    ]
    assert [record.error_type for record in bad] == ["TornFile"]
