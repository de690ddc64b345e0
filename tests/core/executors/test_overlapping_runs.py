"""One executor object may serve several runs at the same time: nothing of one run is in the other's outcome."""

import threading
import time
from itertools import chain, zip_longest

import pytest

from curator_core import (
    ActorPoolExecutor,
    FileGroupTask,
    LocalExecutor,
    Pipeline,
    ProcessingStage,
    RayDataExecutor,
    Resources,
    StreamingExecutor,
)

pytestmark = [  # Ray Data opens the log of a dataset a second time when another one ends, and leaves the first open
    pytest.mark.filterwarnings("ignore:unclosed file .*ray-data:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in.*ray-data:pytest.PytestUnraisableExceptionWarning"),
]

EXECUTORS = {
    "local": LocalExecutor,
    "threads": lambda: LocalExecutor(threads=2),
    "actor_pool": lambda: ActorPoolExecutor(actors_per_stage=2),
    "ray_data": lambda: RayDataExecutor(actors_per_stage=1),
    "streaming": StreamingExecutor,
}
HALF_A_CPU = Resources(cpus=0.5)  # so that the workers of two runs fit on the two CPUs of the tests' Ray


@pytest.fixture(params=EXECUTORS)
def executor(request):
    if request.param not in ("local", "threads"):
        request.getfixturevalue("ray_session")
    return EXECUTORS[request.param]()


class SlowStart(ProcessingStage[FileGroupTask, FileGroupTask]):
    """Takes longest for the first file of a run, so that outputs finish in another order than they began."""

    resources = HALF_A_CPU

    def num_workers(self):
        return 2

    def process(self, task):
        time.sleep(0.5 if task.paths[0].endswith("0") else 0)
        return task


class Same(ProcessingStage[FileGroupTask, FileGroupTask]):
    resources = HALF_A_CPU

    def num_workers(self):
        return 1

    def process(self, task):
        return task


def files(name, count):
    """Yield tasks whose ids differ between runs: those of files are made of their paths."""
    return [FileGroupTask(data=[f"{name}-{number}"]) for number in range(count)]


def names(tasks):
    return [task.paths[0] for task in tasks]


def test_a_run_inside_another_leaves_its_order_alone(executor):
    inner = []

    def tasks():
        yield from files("outer", 6)
        inner.append(Pipeline("inner", stages=[Same()]).run(executor, initial_tasks=files("inner", 3)))

    outer = Pipeline("outer", stages=[SlowStart()]).run(executor, initial_tasks=tasks())
    assert names(outer) == names(files("outer", 6))
    assert names(inner[0]) == names(files("inner", 3))
    assert (outer.stats["SlowStart"].tasks_in, inner[0].stats["Same"].tasks_in) == (6, 3)


def test_two_threads_share_an_executor(executor):
    results = {}
    both_ready = threading.Barrier(2)

    def run(name, count):
        both_ready.wait()
        results[name] = Pipeline(name, stages=[Same()]).run(executor, initial_tasks=files(name, count))

    threads = [threading.Thread(target=run, args=each) for each in (("a", 20), ("b", 30))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, count in (("a", 20), ("b", 30)):
        assert names(results[name]) == names(files(name, count))
        assert results[name].stats["Same"].tasks_in == count


def test_two_streams_take_turns_in_one_thread(executor):
    streams = [
        Pipeline(name, stages=[Same()]).stream(executor, initial_tasks=files(name, count))
        for name, count in (("a", 8), ("b", 5))
    ]
    in_turn = [task for task in chain.from_iterable(zip_longest(*streams)) if task is not None]
    for name, count in (("a", 8), ("b", 5)):
        assert sorted(each for each in names(in_turn) if each.startswith(name)) == names(files(name, count))
