"""Several nodes: placement by resources, nodes that die during the run and one that joins."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cluster_program.py")


def run_case(*arguments):
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            out, err = process.communicate(timeout=240)
        finally:
            with suppress(ProcessLookupError):  # with the nodes of a program that is stuck
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, err[-3000:]
    return json.loads(out.splitlines()[-1])


@pytest.mark.slow
def test_stages_run_where_their_resources_are_and_leave_gpus_that_another_job_holds_to_it():
    found = run_case("mixed")
    alone, shared = found["alone"], found["shared"]
    assert alone["numbers"] == list(range(200))
    assert {nodes[1] for nodes in alone["nodes"]} == {found["gpu_node"]}
    assert len({node for nodes in alone["nodes"] for node in nodes}) == 2
    assert shared["numbers"] == list(range(20))
    assert {node for nodes in shared["nodes"] for node in nodes} == {found["gpu_node"]}


@pytest.mark.slow
def test_the_cpus_of_a_node_that_joins_are_taken_and_it_takes_no_task_with_it_when_it_dies():
    found = run_case("leaving")
    assert found["left_at"], "the node had work, and none of its CPUs was free, before it died"
    assert found["numbers"] == list(range(found["given"]))
    assert found["quarantined"] == 0


@pytest.mark.slow
def test_the_only_worker_of_a_stage_is_replaced_when_its_node_dies_while_it_has_nothing_to_do():
    found = run_case("leaving_idle")
    assert found["numbers"] == list(range(10))
    assert found["quarantined"] == 0
    assert len({node for nodes in found["nodes"] for node in nodes}) == 2


@pytest.mark.slow
def test_an_ignored_head_is_not_reserved_and_the_other_nodes_are():
    found = run_case("headless")
    assert found["numbers"] == list(range(found["given"]))
    assert {node for nodes in found["nodes"] for node in nodes} == set(found["workers"])
    assert found["free_cpus"] == [0.0, 0.0]
    assert sum(found["free_everywhere"].values()) == 8.0  # all those of the head


@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.chaos), pytest.param(2, marks=pytest.mark.soak)])
def test_nodes_die_at_random_moments_and_one_joins(seed):
    found = run_case("changing", 1_000, seed)
    counts = Counter(found["numbers"])
    tasks = found["given"]
    lost, doubled = sum(number not in counts for number in range(tasks)), len(found["numbers"]) - len(counts)
    worked = Counter(node for nodes in found["nodes"] for node in nodes)
    shares = [worked[node] for node in (*found["gone"], found["joined"])]
    print(  # noqa: T201 - the figures are what the chaos suite is for
        f"\nseed {seed}: {tasks} tasks, 3 nodes, two killed after {found['moments'][:2]} outputs, one joined after "
        f"{found['moments'][2]}: {lost} lost, {doubled} duplicated, {found['quarantined']} quarantined; calls of "
        f"the killed nodes {shares[:2]}, of the one that joined {shares[2]}"
    )
    assert (lost, doubled, found["quarantined"]) == (0, 0, 0)
    assert found["numbers"] == list(range(tasks))
    assert all(shares), "each of them had work"
