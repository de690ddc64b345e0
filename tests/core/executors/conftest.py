"""Every executor, by name, for tests that all of them must pass."""

import re
from pathlib import Path

import pytest

from curator_core import ActorPoolExecutor, LocalExecutor, RayDataExecutor, StreamingExecutor

DOC = Path(__file__).parents[3] / "docs/executors.md"


def written_from_the_docs(**options):
    """The executor that the docs tell how to write, as a third party would have it."""
    (code,) = re.findall(r'```python title="acme_pool.py"\n(.*?)```', DOC.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {"__name__": "acme_pool"}
    exec(code, names)
    return names["PoolExecutor"](**options)


EXECUTORS = {
    "local": LocalExecutor,
    "threads": lambda **options: LocalExecutor(threads=2, **options),
    "actor_pool": lambda **options: ActorPoolExecutor(actors_per_stage=1, **options),
    "ray_data": lambda **options: RayDataExecutor(actors_per_stage=1, **options),
    "streaming": StreamingExecutor,
    "third_party": written_from_the_docs,
}
IN_THIS_PROCESS = ("local", "threads", "third_party")


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
