"""Compiled kernels are run, and numba's index of them is a pickle: nobody else can have written what is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from curator_core.authoring.kernel_cache import KernelCache
from curator_core.files.private_folders import why_not_private

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners and modes of this kind")
# Where the kernels of two plugins are kept.
PROGRAM = """
import logging, os
os.umask(int(os.environ.get("UMASK", "18")))
logging.basicConfig(level="WARNING", format="%(message)s")
from curator_dedup.kernels.edges import repeated
from curator_text.kernels.words import split_documents
print(repeated.stats.cache_path)
print(split_documents.stats.cache_path)
"""
NOBODY = 65534


def doubled(number):
    return number + number


def where_kernels_are_kept(program=PROGRAM, **environment):
    """Return the folders, and what was said about them."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={name: os.environ[name] for name in ("HOME", "PATH", "PYTHONPATH", "TMPDIR")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Path(line) for line in done.stdout.splitlines()], done.stderr


def assert_not_used(folder, reason, **environment):
    before = sorted(folder.rglob("*"))
    kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(folder), **environment)
    for path in kept:
        assert folder not in path.parents
        assert folder.resolve() not in path.resolve().parents
    assert reason in said
    assert "set CURATOR_CACHE_DIR to a folder that only you can write to" in said
    assert [path for path in sorted(folder.rglob("*")) if path.suffix in (".nbi", ".nbc")] == [
        path for path in before if path.suffix in (".nbi", ".nbc")
    ]


@pytest.fixture(autouse=True)
def processes_of_this_test(monkeypatch, tmp_path_factory):
    """Let them import what this process does, and have temporary files of their own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def as_root():
    if os.getuid() != 0:
        pytest.skip("only root can give files away")


def test_a_folder_of_ones_own_is_used(cache):
    kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache))
    assert [cache in path.parents for path in kept] == [True, True]
    assert said == ""


def test_a_folder_that_is_not_there_yet_is_made_and_used(tmp_path):
    cache = tmp_path / "new" / "cache"
    for _ in range(2):
        kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache))
        assert [cache in path.parents for path in kept] == [True, True]
        assert said == ""
    assert cache.stat().st_mode & 0o777 == 0o700


def test_kernels_compiled_with_a_permissive_umask_are_used_again(cache):
    environment = {"CURATOR_CACHE_DIR": str(cache), "UMASK": "0"}
    killed = PROGRAM + "import numpy; repeated(numpy.arange(4, dtype=numpy.uint64)); os._exit(0)"
    where_kernels_are_kept(killed, **environment)
    assert {path.stat().st_mode & 0o777 for path in cache.rglob("*.nbi")} == {0o666}
    kept, said = where_kernels_are_kept(**environment)
    assert [cache in path.parents for path in kept] == [True, True]
    assert said == ""


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(cache, mode):
    cache.chmod(mode)
    assert_not_used(cache, f"others can write to {cache} (mode {mode:o})")


def test_a_folder_that_a_group_can_write_to_is_not_used(cache, as_root):
    os.chown(cache, 0, NOBODY)
    cache.chmod(0o770)
    assert_not_used(cache, f"others can write to {cache} (mode 770)")


def test_a_folder_of_another_user_is_not_used(cache, as_root):
    os.chown(cache, NOBODY, NOBODY)
    assert_not_used(cache, f"{cache} belongs to the user")


@pytest.mark.skipif(not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this numba cannot be told")
def test_kernels_that_numba_would_keep_elsewhere_are_not_kept(cache, tmp_path, monkeypatch, caplog):
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("CURATOR_CACHE_DIR", str(cache))
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere))
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserWideCacheLocator")
    kernel = KernelCache("doubles", Path(__file__).parent).kernel(doubled)
    assert kernel(2) == 4
    assert not list(elsewhere.rglob("*.nbi"))
    (warning,) = caplog.messages
    assert "compiled in each process" in warning
    assert str(elsewhere) in warning


def test_a_link_is_not_used(cache, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(cache)
    assert_not_used(link, f"{link} is a link")


def test_a_folder_in_one_where_others_can_rename_it_is_not_used(cache, tmp_path):
    tmp_path.chmod(0o777)
    assert_not_used(cache, f"others can write to {tmp_path} (mode 777)")
    tmp_path.chmod(0o1777)  # as /tmp: others cannot rename what is not theirs
    kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache))
    assert [cache in path.parents for path in kept] == [True, True]
    assert said == ""


def test_a_folder_behind_a_link_that_others_can_replace_is_not_used(cache, tmp_path):
    open_to_all, inner = tmp_path / "open", tmp_path / "inner"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (open_to_all / "hop").symlink_to(tmp_path)
    inner.symlink_to(open_to_all / "hop")
    assert_not_used(inner / "cache", f"others can write to {open_to_all} (mode 777)")


def test_a_path_is_checked_where_it_leads_and_not_where_it_seems_to(tmp_path):
    home, shared = tmp_path / "home", tmp_path / "shared"
    for folder in (home, home / "cache", shared, shared / "me", shared / "cache"):
        folder.mkdir(mode=0o700)
    (home / "link").symlink_to(shared / "me")
    folder = home / "link" / ".." / "cache"
    assert folder.samefile(shared / "cache")
    assert why_not_private(folder) == f"{folder} has a '..' in it"
    assert why_not_private(home / "cache") is None


def test_a_relative_link_is_followed_from_the_folder_that_it_is_in(tmp_path):
    home, shared = tmp_path / "home", tmp_path / "shared"
    for folder in (home, home / "c", shared, shared / "me", shared / "c", shared / "c" / "cache"):
        folder.mkdir(mode=0o700)
    (home / "a").symlink_to(shared / "me")
    (shared / "me" / "b").symlink_to("../c")
    folder = home / "a" / "b" / "cache"
    assert folder.samefile(shared / "c" / "cache")
    assert why_not_private(folder) is None
    (shared / "c").chmod(0o777)
    assert why_not_private(folder) == f"others can write to {shared / 'c'} (mode 777)"


def test_the_mode_of_a_file_counts_unless_nobody_else_can_reach_it(cache):
    file = cache / "kernel.nbi"
    file.touch()
    file.chmod(0o666)
    assert why_not_private(cache) is None
    cache.chmod(0o711)
    assert why_not_private(cache) == f"others can write to {file} (mode 666)"


@pytest.mark.parametrize("damage", ["foreign", "link"])
def test_one_file_that_others_may_have_written_is_enough(cache, tmp_path, damage, request):
    (kept, _), _ = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache))
    kept.mkdir(exist_ok=True)
    file = kept / "edges.repeated-1.py311.nbi"
    if damage == "link":
        (tmp_path / "theirs").write_bytes(b"")
        file.symlink_to(tmp_path / "theirs")
    else:
        file.write_bytes(b"")
    if damage == "foreign":
        request.getfixturevalue("as_root")
        os.chown(file, NOBODY, NOBODY)
    kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache))
    assert cache not in kept[0].parents
    assert str(file) in said


def test_the_folder_instead_is_private_too(cache, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    cache.chmod(0o777)
    kept, _ = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache), TMPDIR=str(temporary))
    assert [temporary in path.parents for path in kept] == [True, True]
    (instead,) = temporary.iterdir()
    assert instead.stat().st_mode & 0o777 == 0o700
    instead.chmod(0o777)  # somebody else was there first
    kept, said = where_kernels_are_kept(CURATOR_CACHE_DIR=str(cache), TMPDIR=str(temporary))
    assert instead not in kept[0].parents
    assert temporary in kept[0].parents
    assert f"others can write to {instead}" in said
    assert list(temporary.iterdir()) == [instead], "what only one process could use is removed with it"
