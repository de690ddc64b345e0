"""Shared by all tests: hypothesis settings, and one Ray, which takes seconds to start."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The Ray below stays up for tests of other things, whose pipelines are to run in this process all the same.
os.environ["CURATOR_EXECUTOR"] = "local"

# How long an example takes says more about the machine than about the code.
settings.register_profile("curator", deadline=None)
settings.load_profile("curator")

HERE = Path(__file__).parent
INSTALL_FOLDER = HERE / "install"
RAY_FOLDERS = {HERE / "core" / "executors", HERE / "core" / "streaming"}


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items):
    """Keep together, in one process, what shares something that takes long to make: a Ray, a virtual environment."""
    for item in items:
        if INSTALL_FOLDER in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("install"))
        elif "ray_session" in item.fixturenames or RAY_FOLDERS.intersection(item.path.parents):
            item.add_marker(pytest.mark.xdist_group("ray"))


@pytest.fixture(scope="session")
def ray_session():
    """A quiet Ray with four logical CPUs and GPUs; executors made without cpus and gpus join it."""
    from curator_core.executors.cluster import connect

    with connect(cpus=4, gpus=4) as cluster:
        yield cluster
