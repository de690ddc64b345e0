"""Every executor, by name, for tests that all of them must pass."""

import pytest

from curator_core import ActorPoolExecutor, LocalExecutor, RayDataExecutor, StreamingExecutor

EXECUTORS = {
    "local": LocalExecutor,
    "threads": lambda **options: LocalExecutor(threads=2, **options),
    "actor_pool": lambda **options: ActorPoolExecutor(actors_per_stage=1, **options),
    "ray_data": lambda **options: RayDataExecutor(actors_per_stage=1, **options),
    "streaming": StreamingExecutor,
}
IN_THIS_PROCESS = ("local", "threads")


def pytest_generate_tests(metafunc):
    if "make_executor" in metafunc.fixturenames:
        metafunc.parametrize("make_executor", EXECUTORS, indirect=True)
    elif "make_ray_executor" in metafunc.fixturenames:
        names = [name for name in EXECUTORS if name not in IN_THIS_PROCESS]
        metafunc.parametrize("make_ray_executor", names, indirect=True)


@pytest.fixture
def make_executor(request):
    """Make an executor with options; runs the test once for every kind."""
    if request.param not in IN_THIS_PROCESS:
        request.getfixturevalue("ray_session")
    return EXECUTORS[request.param]


@pytest.fixture
def make_ray_executor(request, ray_session):
    """The same, for those with worker processes only."""
    return EXECUTORS[request.param]
