"""The driver is killed, again and again, and the run goes on: the files are those of a run that nobody disturbed."""

import itertools
import random
import shutil
import signal
import time

import pytest

from curator_core.executors.ray import import_ray

RUNS = {
    "local": ["--executor", "local"],
    "threads": ["--executor", "local", "--threads", "2"],
    "streaming": ["--executor", "streaming", "--cpus", "2"],
    "actor_pool": ["--executor", "actor_pool"],
    "ray_data": ["--executor", "ray_data"],
}


def wait_for_begin(driver, process, known):
    """Wait until the run has begun to do something new, so that kills hit it and not its start."""
    ledger = driver.root / "run" / "ledger.jsonl"
    while process.poll() is None and (not ledger.exists() or ledger.stat().st_size <= known):
        time.sleep(0.005)


def kill_at_random(driver, arguments, *, kills, longest_s, seed, expected, figures, files_of):
    """Kill a run again and again; where it comes to its end before that was often enough, do so to another one."""
    moments = random.Random(seed)
    while figures.faults < kills:
        ledger = driver.root / "run" / "ledger.jsonl"
        known = ledger.stat().st_size if ledger.exists() else 0
        process = driver.start(*arguments, "--resume")
        figures.resumes += 1
        wait_for_begin(driver, process, known)
        time.sleep(moments.uniform(0, longest_s))
        is_killed = process.poll() is None
        if is_killed:
            process.send_signal(signal.SIGKILL)
            figures.faults += 1
        process.communicate(timeout=60)
        visible = {name: data for name, data in files_of(driver.root / "out").items() if not name.startswith(".")}
        assert visible.items() <= expected.items()  # whole or not there, at any moment
        if not is_killed:
            assert process.returncode == 3
            figures.compare(files_of(driver.root / "out"), expected)
            shutil.rmtree(driver.root / "out")
            shutil.rmtree(driver.root / "run")
    driver.finish(driver.start(*arguments, "--resume"))
    figures.compare(files_of(driver.root / "out"), expected)


def test_a_driver_that_is_killed_goes_on(make_driver, figures, files_of):
    driver = make_driver(seconds=0.0, files=6)
    for fault in ("commit.renamed:kill@4", "ledger.half_written:kill@3"):
        process = driver.start("--executor", "local", "--resume", CURATOR_FAULTS=fault)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        figures.faults += 1
    driver.finish(driver.start("--executor", "local", "--resume"))
    figures.resumes += 2
    figures.compare(files_of(driver.root / "out"), driver.reference())
    figures.check("driver killed in the middle of a commit")


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["local", "threads"])
def test_a_driver_that_is_killed_at_random_moments(kind, make_driver, figures, files_of):
    driver = make_driver(seconds=0.03, files=150)
    expected = driver.reference()
    kill_at_random(
        driver, RUNS[kind], kills=10, longest_s=0.3, seed=1, expected=expected, figures=figures, files_of=files_of
    )
    figures.check(f"driver killed at random moments, {kind}")


@pytest.mark.chaos
def test_a_driver_of_workers_that_is_asked_to_end_drains_and_goes_on(make_driver, figures, files_of):
    driver = make_driver(seconds=0.3, files=12)
    process = driver.start(*RUNS["streaming"])
    while process.poll() is None and not list((driver.root / "out").glob("part-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 143, err
    assert "--resume" in err
    figures.faults += 1
    assert 0 < len(files_of(driver.root / "out")) < 24
    driver.finish(driver.start(*RUNS["streaming"], "--resume"))
    figures.resumes += 1
    figures.compare(files_of(driver.root / "out"), driver.reference())
    figures.check("driver of workers asked to end")


@pytest.mark.chaos
@pytest.mark.timeout(1200)
def test_a_driver_of_workers_that_is_killed_at_random_moments(ray_session, make_driver, figures, files_of):
    """Three times with a Ray of its own, which has to go with it, then on one that stays and takes its workers away."""
    driver = make_driver(seconds=0.1, files=60)
    expected = driver.reference()
    options = {"longest_s": 1.0, "expected": expected, "figures": figures, "files_of": files_of}
    kill_at_random(driver, RUNS["streaming"], kills=3, seed=2, **options)
    for folder in ("out", "run"):
        shutil.rmtree(driver.root / folder)
    shared = ["--executor", "streaming", "--address", import_ray().get_runtime_context().gcs_address]
    kill_at_random(driver, shared, kills=10, seed=3, **options)
    figures.check("driver killed at random moments, streaming")


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_a_driver_that_is_killed_goes_on_with_another_executor(ray_session, make_driver, figures, files_of):
    driver = make_driver(seconds=0.0, files=4)
    address = import_ray().get_runtime_context().gcs_address
    expected = driver.reference()
    for kind in itertools.cycle(RUNS):
        options = RUNS[kind][:2] if kind == "streaming" else RUNS[kind]
        options = options if "local" in options else [*options, "--address", address]
        process = driver.start(*options, "--resume", CURATOR_FAULTS="ledger.synced:kill@1")
        _, err = process.communicate(timeout=300)
        if process.returncode != -signal.SIGKILL:
            break
        figures.faults += 1
        figures.resumes += 1
    assert process.returncode == 3, err
    figures.compare(files_of(driver.root / "out"), expected)
    assert figures.faults >= len(RUNS)
    figures.check("driver killed at every first commit, on executors in turn")
