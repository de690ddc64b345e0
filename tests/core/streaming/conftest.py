"""One Ray for all tests of the streaming engine: it takes seconds to start."""

import pytest

from curator_core.executors.cluster import connect


@pytest.fixture(scope="session")
def ray_session():
    with connect(cpus=4, gpus=4):
        yield
