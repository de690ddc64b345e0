"""A producer a hundred times faster than its consumer, and how much memory lies between them.

Usage: python -m tests.support.fast_producer TASKS    runs it on a Ray of its own and prints the figures as JSON.
"""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

from curator_core import Pipeline, ProcessingStage, StreamingExecutor, Task

__all__ = ["LIMIT_BYTES", "PAYLOAD_BYTES", "run_producer"]

LIMIT_BYTES = 200_000_000
PAYLOAD_BYTES = 4_000_000


class Produce(ProcessingStage[Task, Task]):
    fuse = False

    def process(self, task):
        import numpy as np

        return task.with_data((task.data, np.full(PAYLOAD_BYTES, task.data % 251, dtype=np.uint8)))


class Consume(ProcessingStage[Task, Task]):
    fuse = False

    def process(self, task):
        number, payload = task.data
        time.sleep(0.05)
        assert payload[0] == number % 251
        return task.with_data(number)


def run_producer(tasks):
    """Send so many payloads through; return the most that was in the store at once, as the executor knows it."""
    executor = StreamingExecutor(memory_limit_bytes=LIMIT_BYTES)
    stages = [Produce(), Consume().with_(max_workers=2)]
    result = Pipeline("fast", stages=stages).run(executor, initial_tasks=(Task(data=n) for n in range(tasks)))
    assert [task.data for task in result] == list(range(tasks))
    return result.peak_object_store_bytes


def touched_bytes():
    """Return the shared memory that the object store of this process's Ray has ever used: it is not given back."""
    import psutil  # comes with Ray

    raylets = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a worker that has just ended
            raylets += [process] if process.name() == "raylet" else []
    sizes = []
    for link in (link for raylet in raylets for link in Path(f"/proc/{raylet.pid}/fd").iterdir()):
        with suppress(FileNotFoundError):  # just closed; the file of the store stays open
            if "/plasma" in str(link.readlink()):
                sizes.append(link.stat().st_blocks * 512)
    return max(sizes)


def main(tasks):
    from curator_core.executors.ray.cluster import connect

    with connect(cpus=4):
        before = touched_bytes()
        peak = run_producer(int(tasks))
        figures = {"peak": peak, "touched": touched_bytes() - before}
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
