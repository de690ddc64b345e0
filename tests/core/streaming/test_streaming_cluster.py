"""Several nodes: placement by resources, a node that joins and one that dies during the run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cluster_program.py")


def run_case(name):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), name], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_stages_run_where_their_resources_are():
    found = run_case("mixed")
    assert found["numbers"] == list(range(200))
    assert {nodes[1] for nodes in found["nodes"]} == {found["gpu_node"]}
    assert len({node for nodes in found["nodes"] for node in nodes}) == 2


@pytest.mark.slow
def test_a_node_that_dies_takes_no_task_with_it():
    found = run_case("leaving")
    assert found["numbers"] == list(range(400))
    assert found["quarantined"] == 0
    assert any(found["gone"] in nodes for nodes in found["nodes"])  # it had been working


@pytest.mark.slow
def test_a_node_that_joins_gets_work():
    found = run_case("joining")
    assert found["numbers"] == list(range(500))
    assert any(found["joined"] in nodes for nodes in found["nodes"])
