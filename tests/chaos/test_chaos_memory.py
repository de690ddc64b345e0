"""Workers that run out of memory, and a producer that is much faster than its consumer."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from curator_core import Pipeline, ProcessingStage, StreamingExecutor, Task

PROGRAM = Path(__file__).with_name("memory_program.py")
LIMIT_BYTES = 200_000_000
PAYLOAD_BYTES = 4_000_000


@pytest.mark.chaos
@pytest.mark.timeout(400)
def test_a_table_that_is_too_much_at_once_is_taken_in_parts_and_a_row_that_is_too_much_is_quarantined():
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"\nout of memory: {len(found['rows'])} rows came out, in quarantine {found['quarantined']}")  # noqa: T201
    assert found["rows"] == sorted(["small", *(f"row {n}" for n in range(64))])
    assert found["quarantined"] == [["2", "WorkerMemoryError", "Hungry"]]


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


def stored_bytes(raylets):
    """Bytes of shared memory that the object store has touched."""
    sizes = [Path(f"/proc/{pid}/status").read_text() for pid in raylets]
    return max(int(line.split()[1]) * 1024 for text in sizes for line in text.splitlines() if "RssShmem" in line)


def raylets():
    found = subprocess.run(["pgrep", "-f", "raylet/raylet"], capture_output=True, text=True, check=True)
    return [int(pid) for pid in found.stdout.split()]


def run_producer(tasks):
    executor = StreamingExecutor(memory_limit_bytes=LIMIT_BYTES)
    stages = [Produce(), Consume().with_(max_workers=2)]
    result = Pipeline("fast", stages=stages).run(executor, initial_tasks=(Task(data=n) for n in range(tasks)))
    assert [task.data for task in result] == list(range(tasks))
    return result.peak_object_store_bytes


@pytest.mark.usefixtures("ray_session")
def test_a_fast_producer_stays_within_the_bound():
    assert run_producer(100) <= LIMIT_BYTES


@pytest.mark.chaos
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("ray_session")
def test_ten_gigabytes_through_a_slow_consumer_stay_within_the_bound():
    peak = run_producer(2_500)
    seen = stored_bytes(raylets())
    print(f"\n10 GB: at most {peak / 1e6:.0f} MB in queues, {seen / 1e6:.0f} MB of the store touched")  # noqa: T201
    assert peak <= LIMIT_BYTES
    assert seen <= 1.25 * LIMIT_BYTES  # what a store has touched stays visible, also what other tests did
