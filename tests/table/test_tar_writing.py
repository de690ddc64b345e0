"""Tar writing: rows come back as they were, archives are the same byte for byte, impossible keys are quarantined."""

import datetime as dt
import hashlib
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.authoring.file_keys import extension_of_uri, key_of_uri
from curator_core.sdk import FileReader, FileWriter
from curator_core.values.errors import ConfigError, StageError, UnknownNameError
from curator_table.tar.member_names import checked_key
from curator_table.tar.reader import TarSamples
from curator_table.tar.writer import check_members, sample_parts

BLOBS = TarSamples("blob", media=("bin", "jpg"))


@dataclass
class ReadBlobs(FileReader):
    table_format = BLOBS


@dataclass
class WriteBlobs(FileWriter):
    key_column: str = "key"
    bytes_column: str = "bytes"
    extension_column: str = "extension"
    text_column: str = "text"
    members: dict[str, str] | None = None
    json_columns: list[str] | None = None
    max_file_bytes: int | None = None
    compression: str | None = None
    table_format = BLOBS

    def __post_init__(self):
        super().__post_init__()
        check_members(self.name, self.members)

    def inputs(self):
        return [self.bytes_column]

    def parts(self, task):
        return sample_parts(self, task, default_extension="bin")


def write(rows, path, **options):
    batch = TableBatch(data=rows, task_id="3f2a/0")
    return Pipeline(stages=[WriteBlobs(str(path), **options)]).run(LocalExecutor(), initial_tasks=[batch])


def members(path):
    with tarfile.open(path) as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}


def test_rows_become_members(tmp_path):
    rows = {
        "key": ["a", "b/ü"],
        "bytes": [b"one", None],
        "extension": ["jpg", "png"],
        "caption": ["a cat", None],
        "score": [0.5, None],
        "day": [dt.date(2024, 1, 2), None],
        "_source": ["x.tar", "x.tar"],
        "_row": [0, 1],
    }
    (out,) = write(rows, tmp_path, members={"caption": "txt"})
    (path,) = out.paths
    assert Path(path).name.startswith("part-")
    assert (out.num_items, out.meta["bytes"]) == (2, Path(path).stat().st_size)
    assert members(path) == {
        "a.jpg": b"one",
        "a.txt": b"a cat",
        "a.json": b'{"score":0.5,"day":"2024-01-02"}',
        "b/ü.json": b"{}",
    }


def test_what_readers_make_columns_of_becomes_members_again(tmp_path):
    rows = {"key": ["a"], "bytes": [b"1"], "text": ["a cat"], "cls": [7], "seg.png": [b"mask"], "n": [1]}
    (out,) = write(rows, tmp_path)
    expected = {"a.bin": b"1", "a.seg.png": b"mask", "a.txt": b"a cat", "a.cls": b"7", "a.json": b'{"n":1}'}
    assert members(out.paths[0]) == expected
    (batch,) = Pipeline(stages=[ReadBlobs(str(tmp_path))]).run(LocalExecutor())
    (back,) = batch.data.drop_columns(["_source", "_row", "extension"]).to_pylist()
    assert back == {name: values[0] for name, values in rows.items()}


def test_the_same_rows_give_the_same_bytes_and_no_owner_or_time(tmp_path):
    rows = {"key": ["a", "é" * 90], "bytes": [b"1" * 600, b"2"], "n": [1, 2]}
    (one,) = write(rows, tmp_path / "1")
    (two,) = write(rows, tmp_path / "2")
    assert Path(one.paths[0]).read_bytes() == Path(two.paths[0]).read_bytes()
    with tarfile.open(one.paths[0]) as tar:
        assert {(info.mtime, info.uid, info.gid, info.mode) for info in tar} == {(0, 0, 0, 0o644)}


@settings(max_examples=40)
@given(
    rows=st.dictionaries(
        st.text(
            st.characters(codec="utf-8", categories=["L", "N"], include_characters="/_-"), min_size=1, max_size=150
        ).map(lambda key: "k" + key.replace("//", "/").rstrip("/")),
        st.tuples(st.binary(max_size=2000), st.integers(-(2**60), 2**60), st.text(min_size=1, max_size=20)),
        min_size=1,
        max_size=8,
    ),
    max_file_bytes=st.none() | st.integers(1, 5000),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, max_file_bytes):
    folder = tmp_path_factory.mktemp("tar")
    table = {
        "key": list(rows),
        "bytes": [each[0] for each in rows.values()],
        "n": [each[1] for each in rows.values()],
        "text": [each[2] for each in rows.values()],
    }
    (out,) = write(table, folder, members={"text": "txt"}, max_file_bytes=max_file_bytes)
    result = Pipeline(stages=[ReadBlobs(str(folder))]).run(LocalExecutor())
    back = [row for batch in result for row in batch.data.to_pylist()]
    assert not result.quarantined
    found = [(row["key"], (row["bytes"], row["n"], row["text"])) for row in back]
    assert sorted(found) == sorted(rows.items())
    assert max_file_bytes is not None or len(out.paths) == 1


def test_unusable_keys_are_quarantined_with_their_source(tmp_path):
    rows = {
        "key": ["good", None, "", "../up", "/abs", "dot.ted", "good", "a\nb"],
        "bytes": [b"x"] * 8,
        "_source": [f"{n}.jpg" for n in range(8)],
        "_row": list(range(8)),
    }
    result = write(rows, tmp_path)
    assert result[0].num_items == 1
    assert [record.row for record in result.quarantined] == [1, 2, 3, 4, 5, 6, 7]
    assert {record.error_type for record in result.quarantined} == {"UnusableKey"}


def test_keys_of_files_that_were_not_in_an_archive(tmp_path):
    rows = {"uri": ["/data/photos/cat.v2.jpg", "s3://b/dog.png"], "bytes": [b"1", b"2"]}
    rows["_source"] = ["/data/list.jsonl", "s3://b/list.jsonl"]
    (out,) = write(rows, tmp_path, json_columns=[])
    assert list(members(out.paths[0])) == ["photos/cat_v2.jpg", "dog.png"]


@pytest.mark.parametrize(
    ("uri", "start"),
    [
        ("/mnt/data/cat.jpg", "cat-"),
        ("~/cat.jpg", "cat-"),
        ("../up/cat.jpg", "cat-"),
        ("file:///mnt/cat.jpg", "cat-"),
        ("https://me:secret@host/a/cat.jpg?token=secret#x", "cat-"),
        ("s3://bucket/a/cat.jpg", "cat-"),
        ("simplecache::s3://me:secret@bucket/cat.jpg", "cat-"),
        ("zip://a/cat.jpg::/mnt/photos.zip", "cat-"),
        ("C:\\data\\cat.jpg", "cat-"),
        ("C:cat.jpg", "C_cat-"),
        ("a/b/../../../cat.jpg", "cat-"),
    ],
)
def test_keys_of_files_elsewhere_tell_them_apart_and_not_where_they_are(uri, start):
    key = key_of_uri(uri)
    assert re.fullmatch(f"{start}[0-9a-f]{{8}}", key)
    assert checked_key(key) == key
    assert key_of_uri(uri.replace("cat.jpg", "other/cat.jpg")) != key
    assert key_of_uri(uri.replace("secret", "renewed")) == key
    assert extension_of_uri(uri) == "jpg"


def test_keys_of_files_beside_the_file_that_names_them():
    assert key_of_uri("./a/cat.jpg") == "a/cat"
    assert (
        key_of_uri("/mnt/x/a/cat.jpg", "/mnt/x/list.jsonl") == key_of_uri("s3://b/a/cat.jpg", "s3://b/l.csv") == "a/cat"
    )
    assert key_of_uri("https://me@host/a/cat.jpg?x", "https://host/list.jsonl") == "a/cat"
    assert key_of_uri("/mnt/xy/cat.jpg", "/mnt/x/list.jsonl").startswith("cat-")
    assert key_of_uri("/mnt/x/cat.jpg", "/mnt/x/cat.jpg").startswith("cat-")  # a row that is a file itself


@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_compressed_archives_are_read_back(tmp_path, compression):
    content = b"x" * 10_000
    (out,) = write({"key": ["a"], "bytes": [content]}, tmp_path, compression=compression)
    assert out.paths[0].endswith(f".tar.{compression}")
    (batch,) = Pipeline(stages=[ReadBlobs(str(tmp_path))]).run(LocalExecutor())
    assert hashlib.sha256(batch.data["bytes"][0].as_py()).digest() == hashlib.sha256(content).digest()


def test_archives_on_other_filesystems():
    rows = {"key": [f"{n:02}" for n in range(20)], "bytes": [bytes([n]) * 20_000 for n in range(20)]}
    (out,) = write(rows, "memory://shards", max_file_bytes=100_000)
    assert len(out.paths) == 5
    result = Pipeline(stages=[ReadBlobs("memory://shards", block_bytes=50_000)]).run(LocalExecutor())
    back = [row for batch in result for row in batch.data.to_pylist()]
    assert [(row["key"], row["bytes"]) for row in back] == list(zip(rows["key"], rows["bytes"], strict=True))
    assert {row["_source"].partition("://")[0] for row in back} == {"memory"}


def test_errors_name_what_is_wrong(tmp_path):
    with pytest.raises(UnknownNameError, match="unknown column 'bytes'"):
        WriteBlobs(str(tmp_path)).process(TableBatch(data={"key": ["a"]}, task_id="1"))
    with pytest.raises(UnknownNameError, match="unknown column 'key'"):
        WriteBlobs(str(tmp_path)).process(TableBatch(data={"bytes": [b"a"]}, task_id="1"))
    with pytest.raises(StageError, match="cannot be a member"):
        WriteBlobs(str(tmp_path), members={"tags": "json"}).process(
            TableBatch(data={"key": ["a"], "bytes": [b"a"], "tags": pa.array([["x"]])}, task_id="1")
        )
    with pytest.raises(ConfigError, match="say jpg, not"):
        WriteBlobs(str(tmp_path), members={"caption": ".txt"})
    with pytest.raises(ConfigError, match="max_file_bytes must be positive"):
        WriteBlobs(str(tmp_path), max_file_bytes=0)
