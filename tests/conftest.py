"""Shared by all tests: hypothesis settings, and one Ray, which takes seconds to start."""

import os
import signal
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from curator_core.call import interrupts
from curator_core.values import redaction

# The Ray below stays up for tests of other things, whose pipelines are to run in this process all the same.
os.environ["CURATOR_EXECUTOR"] = "local"

# How long an example takes says more about the machine than about the code.
settings.register_profile("curator", deadline=None)
settings.load_profile("curator")

# A shell starts background jobs with the signal ignored, and all processes that they start inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
INSTALL_FOLDER = HERE / "install"
RAY_FIXTURES = ("ray_session", "make_executor", "make_ray_executor")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep together, in one process, what shares something that takes long to make: a Ray, a virtual environment.

    xdist's own groups are suffixes of test ids, which pytest 9.2 no longer lets it add.
    """
    from xdist.scheduler import LoadScopeScheduling

    # The long tests on Ray would take longer one after the other than a Ray for each process takes.
    is_long = _is_long(config)
    if is_long:
        config.option.loadscopereorder = False  # tests have been put in order, below

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.partition("::")[0]
            group = group_of(path)
            return path if group == "ray" and is_long else group or nodeid

    return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection_modifyitems(config, items):
    """Begin with the tests that mostly wait, so that others run meanwhile."""
    if _is_long(config):
        items.sort(key=lambda item: item.get_closest_marker("waits") is None)


def _is_long(config):
    return config.getoption("markexpr") in ("chaos", "soak")


@cache
def group_of(path):
    """Return what the tests of a file share, if anything."""
    file = HERE.parent / path
    if INSTALL_FOLDER in file.parents:
        return "install"
    text = file.read_text(encoding="utf-8")
    return "ray" if any(name in text for name in RAY_FIXTURES) else None


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch):
    """Begin each test with no hidden values, as a process begins: those of earlier tests would hide what leaks."""
    for hidden in ("_hidden", "_credentials"):
        monkeypatch.setattr(redaction, hidden, redaction._HiddenValues())


@pytest.fixture(autouse=True)
def not_a_worker(monkeypatch):
    """Forget that a test ran worker code in this process: workers do not expect Ctrl-C."""
    monkeypatch.setattr(interrupts, "_is_worker", False)


@pytest.fixture(scope="session")
def ray_session():
    """A quiet Ray with two logical CPUs and four GPUs; executors made without cpus and gpus join it.

    A run starts a worker for each CPU, and a worker is a process that takes most of a second to start.
    """
    from curator_core.executors.ray.cluster import connect

    with connect(cpus=2, gpus=4) as cluster:
        yield cluster


@pytest.fixture
def quick_path(tmp_path):
    """A folder in memory, where there is one, for tests that would wait for the disk most of the time.

    Nothing in them may depend on it: their crashes are copies of a folder. Drivers that are killed write to a disk.
    """
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="curator-test-", dir=memory) as folder:
        yield Path(folder)
