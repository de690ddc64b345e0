"""The comparison of engines: its command, what it computes, and a tiny run of the hand-written loop."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


def engines(*arguments, **environment):
    command = [sys.executable, str(BENCHMARKS / "engines.py"), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_names_every_option():
    text = engines("--help")
    assert all(option in text for option in ("--quick", "--json", "--case", "--engine", "--list"))


@pytest.mark.parametrize("size", [[], ["--quick"]])
def test_every_family_is_listed_with_engines_that_exist(size):
    listing = json.loads(engines("--list", "--json", *size))
    assert {case["name"][0] for case in listing["cases"]} == set("abcdefgh")
    assert all("ours" in case["engines"] for case in listing["cases"])
    assert {engine for case in listing["cases"] for engine in case["engines"]} <= set(listing["engines"])


def test_a_case_survives_the_way_to_another_process():
    from engine_comparison.cases import Case, full_cases

    for case in full_cases():
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case


@pytest.mark.slow
def test_a_run_prints_cases_and_ratios_as_one_object():
    report = json.loads(engines("--quick", "--json", "--case", "a 2000", "--engine", "raw"))
    assert report["failures"] == {}
    assert report["ratios"] == {}
    assert set(report["cases"]) == {"a 2000"}
    figures = report["cases"]["a 2000"]["raw"]
    assert figures["tasks"] == 2_000
    assert figures["tasks_per_s"] > figures["tasks_per_s_with_start"] > 0


@pytest.mark.slow
def test_a_peer_that_cannot_be_installed_is_reported(tmp_path):
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    arguments = ("--quick", "--json", "--case", "a 2000", "--engine", "ray_data")
    report = json.loads(engines(*arguments, CURATOR_BENCHMARKS_CACHE=str(tmp_path), **offline))
    assert report["cases"] == {}
    assert report["failures"]["a 2000"]["ray_data"].startswith("not installed: pip cannot install ray[data]")


def test_ratios_divide_ours_by_each_peer():
    from engine_comparison.report import ratios

    cases = {
        "a 2000": {"ours": {"tasks_per_s": 30.0}, "xenna": {"tasks_per_s": 3.0}, "raw": {"tasks_per_s": None}},
        "a 2000 fused": {"ours": {"tasks_per_s": 60.0}},
        "f": {"ours": {"wall_of_ideal": 1.1}, "xenna": {"wall_of_ideal": 2.2}},
    }
    assert ratios(cases) == {
        "a 2000: tasks_per_s, ours / xenna": 10.0,
        "a 2000 fused: tasks_per_s, fused / apart": 2.0,
        "f: wall_of_ideal, ours": 1.1,
    }


def test_settling_is_found_where_the_throughput_reaches_the_ideal():
    from engine_comparison.measures import seconds_to_settle, steady_rate

    slow, fast = [number * 0.1 for number in range(50)], [5.0 + number * 0.05 for number in range(600)]
    ends = slow + fast
    assert steady_rate(ends, since=0.0) == pytest.approx(20.0, rel=0.01)
    assert 3.0 < seconds_to_settle(ends, since=0.0, ideal_per_s=20.0) <= 5.0
    assert seconds_to_settle(slow, since=0.0, ideal_per_s=20.0) is None


def test_several_runs_give_medians_but_hide_no_lost_task():
    from engine_comparison.measures import middle

    runs = [{"rate": 5.0, "lost": 0, "name": "x"}, {"rate": None, "lost": 1, "name": "x"}, {"rate": 9.0, "lost": 0}]
    assert middle(runs) == {"rate": 7.0, "lost": 1}
    assert middle([{"rate": None}]) == {"rate": None}


def test_faults_count_lost_and_duplicated_tasks():
    from engine_comparison.cases import Case
    from engine_comparison.measures import Outcome, measure
    from engine_comparison.workload import Workload

    case = Case("d raise", (), Workload(tasks=10, raise_every=10))
    bad = case.workload.tasks // 2
    came_out = [index for index in range(10) if index not in (bad, 3)] + [7]
    items = [(index, 0.0, float(index), None) for index in came_out]
    figures = measure(case, Outcome(items, begun=0.0, ended=10.0, reported=1))
    assert (figures["lost"], figures["duplicated"], figures["reported"], figures["bad"]) == (1, 1, 1, 1)


def test_an_unknown_case_is_an_error():
    command = [sys.executable, str(BENCHMARKS / "engines.py"), "--case", "a,nonsense", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "there is no case nonsense" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_what_outlives_an_engine_is_stopped_and_nothing_else():
    from engine_comparison.leftovers import MARK, new_mark, stop_leftovers

    def sleeper(mark):
        return subprocess.Popen(["sleep", "60"], env={**os.environ, **mark})

    ours, others = new_mark(), new_mark()
    with sleeper(ours) as leftover, sleeper(others) as stranger:
        stop_leftovers(ours[MARK])
        assert leftover.wait(timeout=30) < 0
        assert stranger.poll() is None
        stranger.kill()
