"""Workers that run out of memory, and a producer that is much faster than its consumer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fast_producer import LIMIT_BYTES, PAYLOAD_BYTES, run_producer

ROOT = Path(__file__).parents[2]


def run_program(*command):
    """Run a program that has a Ray of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=800, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.chaos
@pytest.mark.timeout(400)
def test_a_table_that_is_too_much_at_once_is_taken_in_parts_and_a_row_that_is_too_much_is_quarantined():
    found = run_program("tests.chaos.memory_program")
    print(f"\nout of memory: {len(found['rows'])} rows came out, in quarantine {found['quarantined']}")  # noqa: T201
    assert found["rows"] == sorted(["small", *(f"row {n}" for n in range(64))])
    assert found["quarantined"] == [["2", "WorkerMemoryError", "Hungry"]]


@pytest.mark.usefixtures("ray_session")
def test_a_fast_producer_stays_within_the_bound():
    assert PAYLOAD_BYTES <= run_producer(100) <= LIMIT_BYTES


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_ten_gigabytes_through_a_slow_consumer_stay_within_the_bound():
    found = run_program("tests.support.fast_producer", "2500")
    peak, touched = found["peak"], found["touched"]
    print(f"\n10 GB: at most {peak / 1e6:.0f} MB in queues, {touched / 1e6:.0f} MB of the store ever used")  # noqa: T201
    assert PAYLOAD_BYTES <= peak <= LIMIT_BYTES
    assert PAYLOAD_BYTES <= touched <= 1.25 * LIMIT_BYTES  # gaps between payloads count, too
