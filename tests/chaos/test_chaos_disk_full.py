"""A disk that is full at any byte: a clear error, nothing torn in sight, and the run goes on when there is room.

Stands in for it: a limit on the size of files, which every write of this process meets at some byte.
"""

import resource
import shutil
from contextlib import contextmanager

import pytest

from curator_core.files.faults import hooked
from curator_core.values.errors import CuratorError, LedgerError, OutputError


@contextmanager
def largest_file(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill_and_resume(world, size, expected, figures, files_of):
    """Run with a limit, check what is left, go on without; return whether the limit was met."""
    error = None
    try:
        with largest_file(size):
            world.run(resume=True)
    except CuratorError as met:
        error = met
    if error is not None:
        figures.faults += 1
        assert "File too large" in str(error)
        assert str(world.root) in str(error)
        left = files_of(world.root / "out")
        assert left.items() <= expected.items()
    world.run(resume=True)
    figures.resumes += 1
    figures.compare(files_of(world.root / "out"), expected)
    return error is not None


def clear(world):
    for name in ("out", "run"):
        shutil.rmtree(world.root / name, ignore_errors=True)


def test_a_full_disk_is_an_error_and_no_more(make_world, kind, figures, files_of):
    world = make_world(kind=kind)
    expected = world.reference()
    smallest = min(len(data) for data in expected.values())
    for size in (smallest // 2, 3_000):
        fill_and_resume(world, size, expected, figures, files_of)
        clear(world)
    figures.check(f"full disk, {kind}")


@pytest.mark.chaos
def test_a_disk_that_is_full_at_any_byte(make_world, kind, figures, files_of):
    world = make_world(kind=kind, files=3)
    expected = world.reference()
    size, step = 0, 61
    while fill_and_resume(world, size, expected, figures, files_of):
        clear(world)
        size += step
    assert size > max(len(data) for data in expected.values())
    figures.check(f"full disk every {step} bytes up to {size}, {kind}")


@pytest.mark.parametrize(
    ("point", "kind_of_error", "said"),
    [
        ("commit.written", OutputError, "cannot write .*part-"),
        ("ledger.written", LedgerError, "cannot write the ledger"),
    ],
)
def test_what_could_not_be_written_is_named(world, point, kind_of_error, said, figures, files_of):
    expected = world.reference()

    def fail(name):
        if name == point and (world.root / "out").exists():
            raise OSError(28, "No space left on device")

    with hooked(fail), pytest.raises(kind_of_error, match=f"{said}.*No space left on device"):
        world.run()
    figures.faults += 1
    world.run(resume=True)
    figures.resumes += 1
    figures.compare(files_of(world.root / "out"), expected)
    figures.check(point)
