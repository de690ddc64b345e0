"""Listing: deterministic, skips what is hidden, and says what is there when nothing matches."""

import os
import re
import zipfile

import fsspec
import pytest
from fsspec.utils import glob_translate
from hypothesis import given
from hypothesis import strategies as st

from curator_core.files.local_files import glob_files
from curator_core.files.paths import list_files
from curator_core.values.errors import ConfigError, MissingPackageError
from curator_table import FORMATS

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


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Folders in folders, each with two files."""
    root = tmp_path_factory.mktemp("tree")
    for folder in (root, root / "a", root / "ab", root / "a" / "a", root / "a" / "ab", root / "ab" / "ab"):
        folder.mkdir(exist_ok=True)
        for name in ("b", "bc"):
            (folder / name).touch()
    return root


PARTS = st.sampled_from(["*", "**", "a", "a*", "?", "[ab]*", "b", "*b", "ab"])


@given(st.lists(PARTS, min_size=1, max_size=4).filter(lambda parts: not {"a", "b", "ab"}.issuperset(parts)))
def test_globs_match_what_fsspec_matches(tree, parts):
    pattern = f"{tree}/{'/'.join(parts)}"
    every = [str(path) for path in tree.rglob("*") if path.is_file()]
    expected = [path for path in every if re.match(glob_translate(pattern), path)]
    assert sorted(each.path for each in glob_files(pattern)) == sorted(expected)


def close(monkeypatch, *names):
    """Make folders of these names unreadable, for root as well."""
    scandir = os.scandir

    def refuse(folder):
        if folder.endswith(names):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)


def test_folders_that_cannot_hold_a_match_are_not_read(folder, monkeypatch):
    (folder / "private").mkdir()
    close(monkeypatch, "private", "_tmp")
    assert names(list_files(f"{folder}/s*/*.jsonl"), folder) == ["sub/d.jsonl"]
    assert names(list_files(f"{folder}/*.txt"), folder) == ["notes.txt"]
    (folder / "private").rmdir()
    assert len(list_files(folder, extensions=JSONL)) == 4


def test_a_folder_that_cannot_be_read_is_reported(folder, monkeypatch):
    close(monkeypatch, "sub")
    refused = []
    assert len(list_files(folder, extensions=JSONL, on_refused=refused.append)) == 3
    assert [os.path.relpath(each.path, folder) for each in refused] == ["sub"]
    assert "cannot be read: Permission denied" in refused[0].reason
    with pytest.raises(ConfigError, match="Permission denied"):
        list_files(folder, extensions=JSONL)
    with pytest.raises(ConfigError, match=r"cannot list .*Permission denied"):
        list_files(folder / "sub", on_refused=refused.append)


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


def test_files_know_their_name_below_what_was_asked_for(folder, memory):
    memory.pipe("/a/x/b.jsonl", b"")
    memory.pipe("/a/x/c.jsonl", b"")
    with zipfile.ZipFile(folder / "in.zip", "w") as archive:
        archive.writestr("z/e.jsonl", "")
    asked = {
        str(folder): ["a.jsonl", "b.jsonl", "c.jsonl.gz", "sub/d.jsonl"],
        f"{folder}/": ["a.jsonl", "b.jsonl", "c.jsonl.gz", "sub/d.jsonl"],
        f"{folder}/sub/d.jsonl": ["d.jsonl"],
        f"{folder}/**/d.jsonl": ["sub/d.jsonl"],
        f"{folder}/su*/*.jsonl": ["sub/d.jsonl"],
        f"{folder}/sub/[d].jsonl": ["d.jsonl"],
        "memory://a": ["x/b.jsonl", "x/c.jsonl"],
        "memory://a/x/b.jsonl": ["b.jsonl"],
        "memory://a/x/*.jsonl": ["b.jsonl", "c.jsonl"],
        f"zip://*/*.jsonl::{folder}/in.zip": ["z/e.jsonl"],
        f"zip://z/e.jsonl::{folder}/in.zip": ["e.jsonl"],
        "simplecache::memory://a/x": ["b.jsonl", "c.jsonl"],
    }
    for path, names in asked.items():
        assert [entry.name for entry in list_files(path, extensions=JSONL)] == names, path


def test_chained_paths_keep_their_chain(tmp_path, memory):
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
