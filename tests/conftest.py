"""Shared by all tests: hypothesis settings, and one Ray, which takes seconds to start."""

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("curator", deadline=None)
settings.load_profile("curator")


@pytest.fixture(scope="session")
def ray_session():
    """A quiet Ray with four logical CPUs and GPUs; executors made without cpus and gpus join it."""
    from curator_core.executors.cluster import connect

    with connect(cpus=4, gpus=4) as cluster:
        yield cluster
