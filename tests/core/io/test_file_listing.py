"""Listing: deterministic, skips what is hidden, and says what is there when nothing matches."""

import os

import fsspec
import pytest

from curator_core.errors import ConfigError, MissingPackageError
from curator_core.io import FORMATS, list_files

JSONL = FORMATS["jsonl"].extensions


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.jsonl",
        "a.jsonl",
        "c.jsonl.gz",
        "notes.txt",
        "sub/d.jsonl",
        ".hidden.jsonl",
        "_SUCCESS",
        "_tmp/x.jsonl",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.fixture
def memory():
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()


def names(entries, folder):
    return [os.path.relpath(entry.path, folder) for entry in entries]


def test_folders_are_searched_sorted_and_without_hidden_files(folder):
    assert names(list_files(str(folder), extensions=JSONL), folder) == [
        "a.jsonl",
        "b.jsonl",
        "c.jsonl.gz",
        "sub/d.jsonl",
    ]
    assert names(list_files(folder, extensions=JSONL, recursive=False), folder) == ["a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert "notes.txt" in names(list_files(folder), folder)


def test_globs(folder):
    assert names(list_files(f"{folder}/*.jsonl"), folder) == ["a.jsonl", "b.jsonl"]
    assert names(list_files(f"{folder}/**/*.jsonl"), folder) == ["_tmp/x.jsonl", "a.jsonl", "b.jsonl", "sub/d.jsonl"]
    assert names(list_files(f"{folder}/*", extensions=JSONL), folder) == ["a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert names(list_files(f"{folder}/*.txt", extensions=JSONL), folder) == ["notes.txt"]
    assert names(list_files(f"{folder}/.hid*"), folder) == [".hidden.jsonl"]


def test_several_paths_keep_their_order_and_list_a_file_once(folder):
    found = list_files([f"{folder}/b.jsonl", f"{folder}/*.jsonl", f"file://{folder}/notes.txt"])
    assert names(found, folder) == ["b.jsonl", "a.jsonl", "notes.txt"]


def test_entries_carry_size_and_version(folder):
    (entry,) = list_files(str(folder / "a.jsonl"))
    assert entry.size_bytes == len("a.jsonl")
    assert entry.version == str((folder / "a.jsonl").stat().st_mtime_ns)


def test_real_names_with_brackets_are_files_not_patterns(tmp_path):
    (tmp_path / "part[1].jsonl").write_text("x")
    assert len(list_files(str(tmp_path / "part[1].jsonl"))) == 1


def test_remote_paths_keep_their_protocol(memory):
    memory.pipe({"/data/a.jsonl": b"1", "/data/sub/b.jsonl": b"22"})
    assert [entry.path for entry in list_files("memory://data", extensions=JSONL)] == [
        "memory://data/a.jsonl",
        "memory://data/sub/b.jsonl",
    ]
    (entry,) = list_files("memory://data/*.jsonl")
    assert (entry.path, entry.size_bytes) == ("memory://data/a.jsonl", 1)
    assert entry.version


def test_chained_paths_keep_their_chain(tmp_path, memory):
    import zipfile

    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("in/a.jsonl", '{"a": 1}\n')
    (entry,) = list_files(f"zip://in/*.jsonl::{tmp_path}/data.zip")
    with fsspec.open(entry.path) as file:
        assert file.read() == b'{"a": 1}\n'


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("a.jsnl", r"'.*a\.jsnl' does not exist\n  fix: did you mean '.*/a\.jsonl'"),
        ("nowhere/deep/*.jsonl", r"no file matches '.*'\n  fix: the nearest folder that exists is"),
        ("sub/*.csv", r"no file matches .*\n  fix: the nearest folder that exists is '.*/sub'; it holds 'd\.jsonl'"),
        ("", "does not exist|empty"),
    ],
)
def test_nothing_matched_names_what_is_there(folder, asked, message):
    with pytest.raises(ConfigError, match=message):
        list_files(f"{folder}/{asked}" if asked else "")


def test_a_folder_without_the_right_files_says_what_it_has(folder):
    with pytest.raises(ConfigError, match=r"has no files ending in \.parquet or \.pq; it holds 'a\.jsonl'"):
        list_files(str(folder), extensions=FORMATS["parquet"].extensions)
    (folder / "void").mkdir()
    with pytest.raises(ConfigError, match="it is empty"):
        list_files(str(folder / "void"))
    with pytest.raises(ConfigError, match="no input paths"):
        list_files([])


def test_missing_and_unknown_filesystems():
    pytest.importorskip("fsspec")
    try:
        import s3fs  # noqa: F401
    except ImportError:
        with pytest.raises(MissingPackageError, match="pip install s3fs"):
            list_files("s3://bucket/*.jsonl")
    with pytest.raises(ConfigError, match=r"did you mean s3"):
        list_files("s33://bucket/x")
