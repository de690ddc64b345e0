"""Rows that a run keeps beside its output, and the files of its Ray, are closed to others, whatever the umask."""

import os
import stat
import subprocess
import sys

import pytest

BOOKS = """
{"title": "Gardens", "year": "1998"}
{"title": "Rivers", "year": "n/a"}
{"title": "Bridges", "year": "1985"}
{"title": "Cities", "year": "20
"""
PIPELINE = """
version: 1
stages:
  - table.read_jsonl: {paths: books.jsonl}
  - table.where: {expression: "CAST(year AS INTEGER) >= 1990"}
  - table.write_jsonl: {path: out}
executor: local
"""
SESSION = """
import os, pathlib, stat, sys
from curator_core.executors.ray.cluster import connect

os.umask(0)
with connect(cpus=1, log_path=sys.argv[1]):
    import ray

    session = pathlib.Path(ray._private.worker._global_node.get_session_dir_path())
    closed = [path for path in session.parents if not path.stat().st_mode & 0o077 and path.stat().st_uid == os.getuid()]
    assert closed, oct(session.stat().st_mode)
    assert (session / "sockets" / "plasma_store").is_socket()
    ray.get(ray.put(1))
    print(closed[0])
assert not closed[0].exists()
"""


@pytest.fixture
def permissive_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def run_python(*arguments, folder, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "RAY_ADDRESS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def modes_in(folder):
    return {path.relative_to(folder).as_posix(): mode(path) for path in [folder, *folder.rglob("*")]}


def test_the_rows_in_a_run_directory_are_closed_to_others(tmp_path, permissive_umask):
    (tmp_path / "books.jsonl").write_text(BOOKS)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    command = ["-m", "curator_core", "run", "p.yaml", "--run-dir", "run", "--save-dropped"]
    for more in ([], ["--resume"]):
        done = run_python(*command, *more, folder=tmp_path)
        assert done.returncode == 3, done.stderr
        quarantine, dropped = tmp_path / "run" / "quarantine", tmp_path / "run" / "dropped"
        assert list(quarantine.glob("payloads/*.arrow"))
        assert list(dropped.glob("*/*.parquet"))
        assert mode(dropped) == 0o700
        for name, found in modes_in(quarantine).items():
            assert found == (0o700 if (quarantine / name).is_dir() else 0o600), name


def test_a_folder_that_its_owner_has_opened_stays_open(tmp_path, permissive_umask):
    (tmp_path / "books.jsonl").write_text(BOOKS)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    for name in ("quarantine", "dropped"):
        (tmp_path / "run" / name).mkdir(parents=True, mode=0o750)
    command = ["-m", "curator_core", "run", "p.yaml", "--run-dir", "run", "--save-dropped"]
    assert run_python(*command, folder=tmp_path).returncode == 3
    assert [mode(tmp_path / "run" / name) for name in ("quarantine", "dropped")] == [0o750, 0o750]


def test_what_a_retry_puts_back_is_closed_to_others(tmp_path, permissive_umask):
    (tmp_path / "books.jsonl").write_text(BOOKS)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    command = ["-m", "curator_core", "run", "p.yaml", "--run-dir", "run"]
    assert run_python(*command, folder=tmp_path).returncode == 3
    done = run_python("-m", "curator_core", "quarantine", "retry", "run", folder=tmp_path)
    assert done.returncode == 3, done.stderr
    quarantine = tmp_path / "run" / "quarantine"
    assert list(quarantine.glob("payloads/*.arrow"))
    for name, found in modes_in(quarantine).items():
        assert found == (0o700 if (quarantine / name).is_dir() else 0o600), name


def test_the_files_of_a_ray_of_our_own_are_private_and_removed(tmp_path):
    log = tmp_path / "run.log"
    done = run_python("-c", SESSION, str(log), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert mode(log) == 0o600


def test_a_temporary_folder_whose_name_is_too_long_for_sockets_is_not_used(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    done = run_python("-c", SESSION, str(tmp_path / "run.log"), folder=tmp_path, TMPDIR=str(folder), RAY_TMPDIR="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("/tmp/")
    assert "too long" in done.stderr
    assert list(folder.iterdir()) == []
