"""A crash at each step of a commit leaves nothing torn, and the run goes on to the same files, in every format.

A crash is a copy of the disk at that moment: what a killed process would have left.
"""

import shutil

import fsspec
import pytest

from curator_core.files.faults import FAULT_POINTS, FAULTS_VARIABLE, fault_point, hooked, is_hooked, parse_faults
from curator_core.values.errors import ConfigError, OutputError

FEW_FILES = 3  # two source tasks each: a first, some in the middle and a last, one of them with a bad record


class Crash(BaseException):
    """Not an Exception, so that nothing can survive it."""


class CrashAt:
    """Stops the run when it comes to a point for the n-th time, and keeps what the disk was like."""

    def __init__(self, world, point, visit):
        self.world = world
        self.point = point
        self.visits_left = visit
        self.has_crashed = False

    def __call__(self, name):
        if name == self.point and not self.has_crashed:
            self.visits_left -= 1
            if self.visits_left == 0:
                self.has_crashed = True
                self.save()
                # Whatever a stage raises is a failure of its task, but for output that cannot be written.
                raise OutputError("crashed") if name.startswith("commit.") else Crash

    def save(self):
        for name in ("out", "run"):
            if (self.world.root / name).exists():
                shutil.copytree(self.world.root / name, self.world.root / "disk" / name)

    def restore(self):
        for name in ("out", "run"):
            shutil.rmtree(self.world.root / name, ignore_errors=True)
            if (self.world.root / "disk" / name).exists():
                shutil.move(self.world.root / "disk" / name, self.world.root / name)


def crash_and_resume(world, point, visit, expected, figures, files_of):
    """Return whether the run came to that point so often; if so, it is crashed there, checked and continued."""
    crash = CrashAt(world, point, visit)
    with hooked(crash):
        try:
            world.run()
        except (Crash, OutputError):  # polars turns whatever a file raises into an OSError
            assert crash.has_crashed
    if crash.has_crashed:
        figures.faults += 1
        crash.restore()
        out = files_of(world.root / "out")
        visible = {name: data for name, data in out.items() if not name.startswith(".")}
        assert visible.items() <= expected.items()  # whole or not there
        world.run(resume=True)
        figures.resumes += 1
        figures.compare(files_of(world.root / "out"), expected)
        assert world.run(resume=True).was_finished
    for name in ("out", "run", "disk"):
        shutil.rmtree(world.root / name, ignore_errors=True)
    return crash.has_crashed


@pytest.mark.parametrize("point", FAULT_POINTS)
def test_a_crash_at_a_step_of_a_commit_costs_nothing(world, point, figures, files_of):
    assert crash_and_resume(world, point, 4, world.reference(), figures, files_of)
    figures.check(point)


def test_a_crash_costs_nothing_in_any_format(make_world, kind, figures, files_of):
    world = make_world(kind=kind)
    assert crash_and_resume(world, "commit.half_written", 3, world.reference(), figures, files_of)
    figures.check(kind)


@pytest.mark.chaos
def test_every_visit_of_every_point_in_every_format(make_world, kind, figures, files_of):
    world = make_world(kind=kind, files=FEW_FILES)
    expected = world.reference()
    for point in FAULT_POINTS:
        visit = 1
        while crash_and_resume(world, point, visit, expected, figures, files_of):
            visit += 1
        assert visit > 4, point
    figures.check(f"every step of a commit, {kind}")


@pytest.mark.parametrize("point", ["commit.begin", "commit.half_written", "commit.written", "commit.renamed"])
def test_a_crash_while_writing_to_an_object_store_costs_nothing(make_world, point, figures):
    store = fsspec.filesystem("memory")
    store.store.clear()
    world = make_world(output="memory://bucket/out")
    expected = world.reference()

    def left():
        return {name.rpartition("/")[2]: store.cat_file(name) for name in store.find("/bucket")}

    class CrashWhileUploading(CrashAt):
        def save(self):
            super().save()
            self.objects = left()

        def restore(self):
            super().restore()
            store.store.clear()
            for name, data in self.objects.items():
                store.pipe_file(f"/bucket/out/{name}", data)

    crash = CrashWhileUploading(world, point, 6)
    with hooked(crash), pytest.raises((Crash, OutputError)):
        world.run()
    figures.faults += 1
    crash.restore()
    assert left().items() <= expected.items()
    world.run(resume=True)
    figures.resumes += 1
    figures.compare(left(), expected)
    store.store.clear()
    figures.check(f"memory://, {point}")


def test_without_a_hook_a_point_is_nothing():
    assert not is_hooked()
    fault_point("commit.begin")


def test_faults_are_asked_for_in_the_environment():
    hook = parse_faults("ledger.begin:fail@2, commit.renamed:fail")
    hook("ledger.begin")
    with pytest.raises(OSError, match="No space left on device"):
        hook("ledger.begin")
    hook("ledger.begin")
    with pytest.raises(OSError, match=r"injected at commit\.renamed"):
        hook("commit.renamed")


@pytest.mark.parametrize("text", ["commit.nowhere:kill@1", "commit.begin", "commit.begin:sing", "commit.begin:kill@x"])
def test_a_fault_that_is_none_is_named(text):
    with pytest.raises(ConfigError, match=f"{FAULTS_VARIABLE}.*{text}"):
        parse_faults(text)
