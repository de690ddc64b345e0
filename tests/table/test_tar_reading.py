"""Tar archives of samples: every dialect is read, damage is reported, pieces give every sample once."""

import gzip
import io
import json
import random
import tarfile
import tracemalloc
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.files.compression import open_compressed
from curator_core.sdk import FileReader
from curator_core.values.errors import PipelineError
from curator_table.stages.select import SelectColumns
from curator_table.tar.headers import parse_header
from curator_table.tar.reader import TarSamples


@dataclass
class ReadScans(FileReader):
    max_member_bytes: int = 2**30
    verify: bool = True
    table_format = TarSamples("picture", media=("jpg", "png"))


def archive(members, dialect=tarfile.GNU_FORMAT, **attributes):
    """Make an archive of (name, content) pairs; a name may be a TarInfo."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=dialect) as tar:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def read(path, **options):
    result = Pipeline(stages=[ReadScans(str(path), **options)]).run(LocalExecutor())
    rows = [row for batch in result for row in batch.data.to_pylist()]
    return rows, result.quarantined, result


def keys(rows):
    return [row["key"] for row in rows]


LONG = "/".join(["folder-of-some-length"] * 12)


@pytest.mark.parametrize("dialect", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_samples_of_every_dialect(tmp_path, dialect):
    long_name = "a" * 99 + "/" + "b" * 60 if dialect == tarfile.USTAR_FORMAT else f"{LONG}/ünïcode"
    members = [
        ("photos.d/0001.jpg", b"first"),
        ("photos.d/0001.txt", "ein Fuß".encode()),
        ("photos.d/0001.json", b'{"width": 5, "tags": ["a"]}'),
        ("photos.d/0002.PNG", b"second"),
        ("photos.d/0002.cls", b" 7\n"),
        ("photos.d/0002.seg.png", b"mask"),
        (f"{long_name}.jpg", b"third"),
    ]
    (tmp_path / "a.tar").write_bytes(archive(members, dialect))
    rows, quarantined, _ = read(tmp_path / "a.tar")
    assert not quarantined
    assert keys(rows) == ["photos.d/0001", "photos.d/0002", long_name]
    assert [row["bytes"] for row in rows] == [b"first", b"second", b"third"]
    assert [row["extension"] for row in rows] == ["jpg", "PNG", "jpg"]
    assert [row["text"] for row in rows] == ["ein Fuß", None, None]
    assert [row["cls"] for row in rows] == [None, 7, None]
    assert [row["tags"] for row in rows] == [["a"], None, None]
    assert [row["seg.png"] for row in rows] == [None, b"mask", None]
    assert {row["_source"] for row in rows} == {str(tmp_path / "a.tar")}
    assert [row["_row"] for row in rows][:2] == [0, 3072]


def test_sizes_in_base_256_and_in_pax_headers(tmp_path):
    plain = bytearray(archive([("a.jpg", b"x" * 700), ("b.jpg", b"y")]))
    plain[124:136] = b"\x80" + (700).to_bytes(11, "big")
    plain[148:156] = b" " * 8
    plain[148:156] = b"%06o\0 " % sum(plain[:512])
    info = tarfile.TarInfo("c.jpg")
    info.pax_headers = {"size": "3", "comment": "ok"}
    (tmp_path / "1.tar").write_bytes(plain)
    (tmp_path / "2.tar").write_bytes(archive([(info, b"abc")], tarfile.PAX_FORMAT))
    rows, quarantined, _ = read(tmp_path)
    assert not quarantined
    assert [len(row["bytes"]) for row in rows] == [700, 1, 3]


@pytest.mark.parametrize("extension", ["gz", "zst", "bz2", "xz"])
def test_compressed_archives_are_streamed(tmp_path, extension):
    path = tmp_path / f"a.tar.{extension}"
    members = [(f"{n:03}.jpg", bytes([n]) * 5000) for n in range(60)]
    with path.open("wb") as file, open_compressed(file, str(path)) as stream:
        stream.write(archive(members))
    rows, quarantined, _ = read(path, block_bytes=20_000)
    assert not quarantined
    assert [(row["key"] + ".jpg", row["bytes"]) for row in rows] == members


@pytest.mark.parametrize("kept", [10, 100, 3000])
def test_damaged_compression_gives_the_samples_before_it_and_one_record(tmp_path, kept):
    members = [(f"{n:03}.jpg", bytes([n]) * 3000) for n in range(60)]
    data, cut = archive(members), 20 * 3584 + 700
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(data[:cut]) + gzip.compress(random.Random(1).randbytes(5000) + data[cut:])[:kept])
    rows, quarantined, _ = read(path)
    assert keys(rows) == [f"{n:03}" for n in range(20)]
    (record,) = quarantined
    assert (record.source, record.row, record.error_type) == (str(path), 20 * 3584, "TornFile")
    whole = gzip.compress(data)
    path.write_bytes(whole[:-4])
    assert (read(path)[0], len(read(path)[1])) == ([], 1)  # the checksum is missing: nothing can be trusted
    rows, quarantined, _ = read(path, verify=False)
    assert len(rows) == 60
    assert len(quarantined) <= 1


def test_columns_of_sidecars_never_overwrite_others(tmp_path):
    sidecar = {"key": "k", "bytes": 1, "extension": "e", "_source": "s", "_row": 2, "text": "own", "url": "u"}
    members = [("a.jpg", b"x"), ("a.json", json.dumps(sidecar).encode()), ("a.txt", b"caption"), ("a.url", b"binary")]
    (tmp_path / "a.tar").write_bytes(archive(members))
    (row,), quarantined, _ = read(tmp_path / "a.tar")
    assert not quarantined
    assert (row["key"], row["bytes"], row["extension"], row["_row"]) == ("a", b"x", "jpg", 0)
    assert [row[f"{name}_in_sidecar"] for name in ("key", "bytes", "extension", "_source", "_row")] == [
        "k",
        1,
        "e",
        "s",
        2,
    ]
    assert (row["text"], row["text_in_sidecar"]) == ("own", "caption")
    assert (row["url"], row["url_in_sidecar"]) == ("u", b"binary")


def link(name, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def test_hostile_members_are_reported_and_the_others_come_out(tmp_path):
    members = [
        ("../up.jpg", b"x"),
        ("/etc/absolute.jpg", b"x"),
        ("a/../../b.jpg", b"x"),
        (link("s.jpg", tarfile.SYMTYPE), b""),
        (link("h.jpg", tarfile.LNKTYPE), b""),
        (link("d.jpg", tarfile.CHRTYPE), b""),
        (link("p.jpg", tarfile.FIFOTYPE), b""),
        (link("folder", tarfile.DIRTYPE), b""),
        ("big.jpg", b"x" * 5000),
        ("twice.jpg", b"1"),
        ("twice.jpg", b"2"),
        ("only.txt", b"no picture"),
        ("bad.jpg", b"1"),
        ("bad.json", b"{"),
        ("number.jpg", b"1"),
        ("number.cls", b"seven"),
        ("latin.jpg", b"1"),
        ("latin.txt", b"\xe9"),
        (".hidden.jpg", b"1"),
        ("README", b"1"),
        ("good.jpg", b"good"),
    ]
    (tmp_path / "a.tar").write_bytes(archive(members))
    rows, quarantined, result = read(tmp_path / "a.tar", max_member_bytes=4000)
    assert [(row["key"], row["bytes"]) for row in rows] == [("twice", b"1"), ("good", b"good")]
    kinds = [record.error_type for record in quarantined]
    assert kinds.count("ForbiddenMember") == 7
    assert kinds.count("MemberTooLarge") == 1
    assert kinds.count("RepeatedMember") == 1
    assert kinds.count("UnreadableSample") == 4
    assert len({record.row for record in quarantined}) == len(quarantined) == 13
    assert result.stats["ReadScans"].counters["skipped_members"] == 2


def test_truncated_archives_give_what_is_readable_and_one_record(tmp_path):
    whole = archive([(f"{n}.jpg", bytes([n]) * 1000) for n in range(5)])
    for cut, readable in ((2, 0), (513, 0), (4603, 3), (4600 - 500, 2), (4608, 3), (4708, 3), (5300, 3)):
        (tmp_path / "a.tar").write_bytes(whole[:cut])
        rows, quarantined, _ = read(tmp_path / "a.tar")
        assert keys(rows) == [str(n) for n in range(readable)]
        (record,) = quarantined
        assert record.source == str(tmp_path / "a.tar")
        assert record.error_type == "TornFile"
        assert record.row == readable * 1536


def test_after_a_damaged_header_the_walk_goes_on(tmp_path):
    data = bytearray(archive([(f"{n}.jpg", bytes([n]) * 1000) for n in range(5)]))
    data[2 * 1536 + 3] ^= 0xFF
    (tmp_path / "a.tar").write_bytes(data)
    rows, quarantined, _ = read(tmp_path / "a.tar")
    assert keys(rows) == ["0", "1", "3", "4"]
    assert [(record.row, record.error_type) for record in quarantined] == [(2 * 1536, "CorruptFile")]


def test_what_is_no_archive_is_one_record(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"\x1f\x8b\x08" + random.Random(1).randbytes(5000))
    (tmp_path / "b.tar").write_bytes(b"")
    (tmp_path / "c.tar.gz").write_bytes(b"not gzip")
    (tmp_path / "d.tar").write_bytes(archive([("x.jpg", b"1")]))
    rows, quarantined, _ = read(tmp_path)
    assert keys(rows) == ["x"]
    assert [record.source.rpartition("/")[2] for record in quarantined] == ["a.tar", "b.tar", "c.tar.gz"]
    assert "this is gzip data, not a tar archive" in quarantined[0].message


def test_concatenated_archives_are_read_to_their_end(tmp_path):
    (tmp_path / "a.tar").write_bytes(archive([("a.jpg", b"1")]) + archive([("b.jpg", b"2")]))
    rows, quarantined, _ = read(tmp_path / "a.tar")
    assert keys(rows) == ["a", "b"]
    assert not quarantined


def test_an_absurd_size_costs_no_memory(tmp_path):
    data = bytearray(archive([("a.jpg", b"x"), ("b.jpg", b"y")]))
    data[124:136] = b"%011o\0" % (2**30 - 1)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    path = tmp_path / "a.tar.gz"
    with path.open("wb") as file, open_compressed(file, str(path)) as stream:
        stream.write(data)
    tracemalloc.start()
    rows, quarantined, _ = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not rows
    assert [record.error_type for record in quarantined] == ["TornFile"]
    assert peak < 50e6


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=30),
    block_bytes=st.integers(1, 20_000),
    dialect=st.sampled_from([tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
)
def test_pieces_of_any_size_give_every_sample_once_and_in_order(tmp_path_factory, sizes, block_bytes, dialect):
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    members = []
    for number, size in enumerate(sizes):
        name = f"{'l' * (90 if number % 3 else 10)}/{number}"
        members += [(f"{name}.jpg", bytes([number]) * size), (f"{name}.txt", b"t")][: 1 + number % 2]
    path.write_bytes(archive(members, dialect))
    stage = ReadScans(str(path), block_bytes=block_bytes)
    result = Pipeline(stages=[stage]).run(LocalExecutor())
    rows = [row for batch in result for row in batch.data.to_pylist()]
    assert [(row["key"] + ".jpg", row["bytes"]) for row in rows] == [
        each for each in members if each[0].endswith("jpg")
    ]
    assert not result.quarantined
    assert sum(sizes) < 2 * block_bytes + 6000 or result.stats["ReadScans.files"].tasks_out > 1


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_mutated_archives_never_crash(tmp_path_factory, seed):
    rng = random.Random(seed)
    data = bytearray(
        archive([(f"{n}.{ext}", b"{}") for n in range(6) for ext in ("jpg", "json")], rng.choice([0, 1, 2]))
    )
    for _ in range(rng.randrange(1, 8)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    path.write_bytes(data[: rng.randrange(1, len(data))] if rng.random() < 0.3 else data)
    rows, quarantined, _ = read(path)
    assert len(rows) <= 12
    assert all(record.source == str(path) for record in quarantined)


def test_the_checksum_is_the_sum_of_the_bytes():
    block = bytearray(archive([("é" * 40 + ".jpg", b"1")])[:512])
    assert parse_header(bytes(block)).name.decode() == "é" * 40 + ".jpg"
    block[0] ^= 1
    with pytest.raises(Exception, match="checksum"):
        parse_header(bytes(block))


def test_columns_are_known_before_the_run(tmp_path):
    members = [("a.jpg", b"1"), ("a.json", b'{"score": 3}'), ("a.txt", b"long enough")]
    (tmp_path / "a.tar").write_bytes(archive(members))
    assert Pipeline(stages=[ReadScans(str(tmp_path)), SelectColumns(["score"])]).build() is not None
    with pytest.raises(PipelineError, match="scores"):
        Pipeline(stages=[ReadScans(str(tmp_path)), SelectColumns(["scores"])]).build()
