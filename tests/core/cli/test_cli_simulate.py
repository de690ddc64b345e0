"""``curator simulate`` foretells what the scheduler does, from a pipeline file and a few times."""

import subprocess
import sys

import pytest

THREE_ON_GPUS = """
    version: 1
    name: gpus
    stages:
      - toy.rows
      - toy.shout:
        with: {resources: {gpus: 1}}
      - toy.min_chars:
        with: {resources: {gpus: 1}}
      - toy.slow:
        with: {resources: {gpus: 1}}
"""
LINE = """
    version: 1
    stages:
      - toy.rows
      - toy.shout
      - toy.slow
"""
APART = """
    version: 1
    stages:
      - toy.rows
      - toy.shout:
        with: {fuse: false}
      - toy.slow
"""


def simulate(cli, path, *arguments):
    outcome = cli("simulate", path, *arguments, "--json")
    assert outcome.status == 0, outcome.err
    return outcome.json


def steps_of(values):
    return {step["name"]: step for step in values["steps"]}


def test_pools_settle_where_they_balance(cli, write_pipeline):
    times = ["--service-time", "shout=0.25", "--service-time", "toy.min_chars=1", "--service-time", "slow=0.5"]
    values = simulate(cli, write_pipeline(THREE_ON_GPUS), "--cpus", 8, "--gpus", 7, "--tasks", 600, *times)
    assert [step["workers_settled"] for step in values["steps"]] == [1, 4, 2]
    assert [step["name"] for step in values["steps"]] == ["toy.shout", "toy.min_chars", "toy.slow"]
    assert values["ideal_makespan_s"] == pytest.approx(150)
    assert 1 <= values["ratio"] < 1.1
    assert values["ratio"] == pytest.approx(values["makespan_s"] / 150)
    assert values["steady_throughput_per_s"] == pytest.approx(4, rel=0.05)
    assert values["outputs"] == values["tasks"] == 600
    assert steps_of(values)["toy.min_chars"]["busy_fraction"] > 0.95
    assert all(step["workers_peak"] >= step["workers_settled"] for step in values["steps"])
    assert values["scheduler_us_per_task"] > 0
    assert values["assumed_service_s"] == {}


def test_nodes_multiply_throughput(cli, write_pipeline):
    path = write_pipeline(LINE)
    arguments = ["--cpus", 4, "--tasks", 4000, "--service-time", "shout=0.04", "--service-time", "slow=0.06"]
    one = simulate(cli, path, *arguments)
    ten = simulate(cli, path, *arguments, "--nodes", 10)
    assert one["ideal_makespan_s"] == pytest.approx(100)
    assert ten["ideal_makespan_s"] == pytest.approx(10)
    assert one["ratio"] < 1.1
    assert ten["ratio"] < 1.25


def test_times_of_a_fused_step_add_up_and_missing_ones_are_said(cli, write_pipeline):
    path = write_pipeline(LINE)
    (step,) = simulate(cli, path, "--cpus", 2, "--tasks", 100, "--service-time", "shout=0.03")["steps"]
    assert step["name"] == "toy.shout+toy.slow"
    assert step["service_s"] == pytest.approx(0.04)
    times = ["--service-time", "shout=0.03", "--service-time", "slow=0.02", "--fan-out", "shout=3"]
    values = simulate(cli, path, "--cpus", 2, "--tasks", 100, *times)
    assert values["steps"][0]["service_s"] == pytest.approx(0.09)
    assert values["outputs"] == 300
    text = cli("simulate", path, "--cpus", 2, "--tasks", 100, "--service-time", "shout=0.03").out
    assert "10 ms per task for toy.slow (see --service-time)" in text


def test_fan_out_makes_work_for_the_steps_behind(cli, write_pipeline):
    times = ["--service-time", "shout=0.01", "--service-time", "slow=0.01", "--fan-out", "shout=4"]
    values = simulate(cli, write_pipeline(APART), "--cpus", 5, "--tasks", 1000, *times)
    assert values["outputs"] == 4000
    assert values["ideal_makespan_s"] == pytest.approx(10)


def test_a_source_with_a_service_time_is_one_worker(cli, write_pipeline):
    path = write_pipeline(LINE)
    assert "toy.rows" not in steps_of(simulate(cli, path, "--cpus", 4, "--tasks", 100))
    values = simulate(cli, path, "--cpus", 4, "--tasks", 200, "--service-time", "rows=0.1")
    assert steps_of(values)["toy.rows"]["workers_peak"] == 1
    assert values["ideal_makespan_s"] == pytest.approx(20)
    assert values["makespan_s"] >= 20


def test_boot_time_delays_the_start(cli, write_pipeline):
    path = write_pipeline(LINE)
    quick = simulate(cli, path, "--cpus", 2, "--tasks", 100)
    slow = simulate(cli, path, "--cpus", 2, "--tasks", 100, "--boot", "slow=30")
    assert slow["makespan_s"] - quick["makespan_s"] == pytest.approx(30, abs=1)


def test_batch_mode_of_the_command_line_or_the_file(cli, write_pipeline):
    times = ["--cpus", 4, "--gpus", 1, "--tasks", 200, "--service-time", "shout=0.2", "--service-time", "slow=0.05"]
    stages = APART.replace("{fuse: false}", "{resources: {gpus: 1}}")
    streaming = simulate(cli, write_pipeline(stages), *times)
    batch = simulate(cli, write_pipeline(stages), *times, "--mode", "batch")
    by_file = simulate(cli, write_pipeline(stages + "    executor: {name: streaming, mode: batch}\n"), *times)
    assert (streaming["mode"], batch["mode"]) == ("streaming", "batch")
    assert batch["makespan_s"] > streaming["makespan_s"] + 1
    assert by_file["makespan_s"] == batch["makespan_s"]


def test_table_for_people(cli, write_pipeline):
    outcome = cli("simulate", write_pipeline(THREE_ON_GPUS), "--nodes", 2, "--cpus", 4, "--gpus", 4, "--tasks", 100)
    first, _, header, *_ = outcome.out.splitlines()
    assert first == "100 tasks, streaming, on 2 nodes of 4 CPUs, 4 GPUs"
    assert header.split("  ")[0] == "STEP"
    for word in ("throughput", "makespan", "ideal makespan", "ratio", "scheduler", "per task"):
        assert word in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--service-time", "shuot=1"], "did you mean 'shout'?"),
        (["--fan-out", "toy.min_chras=2"], "did you mean 'toy.min_chars'?"),
        (["--service-time", "shout"], "--service-time shout: expected NAME=NUMBER"),
        (["--service-time", "shout=-1"], "expected NAME=NUMBER"),
        (["--boot", "shout=nan"], "expected NAME=NUMBER"),
        (["--gpus", "0"], "add --gpus N"),
        (["--gpus", "-1"], "less than 0"),
        (["--cpus", "0"], "not more than 0"),
        (["--nodes", "0"], "not at least 1"),
        (["--cpus", "0.5"], "more than any node has"),
    ],
)
def test_mistakes_are_explained(arguments, said, cli, write_pipeline):
    outcome = cli("simulate", write_pipeline(THREE_ON_GPUS), "--gpus", "4", "--tasks", 10, *arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert said in outcome.err


def test_gpu_memory_custom_resources_and_memory(cli, write_pipeline):
    path = write_pipeline(LINE.replace("toy.slow", "toy.slow:\n        with: {resources: {gpu_memory_gb: 10}}"))
    assert "add --gpu-memory-gb GB" in cli("simulate", path, "--gpus", 1).err
    values = simulate(
        cli, path, "--cpus", 9, "--gpus", 2, "--gpu-memory-gb", 40, "--tasks", 400, "--service-time", "slow=0.4"
    )
    assert steps_of(values)["toy.slow"]["workers_peak"] == 8
    assert values["ideal_makespan_s"] == pytest.approx(20)
    path = write_pipeline(LINE.replace("toy.slow", "toy.slow:\n        with: {resources: {custom: {licence: 1}}}"))
    assert "more than any node has" in cli("simulate", path, "--cpus", 4).err
    values = simulate(cli, path, "--cpus", 4, "--resource", "licence=3", "--tasks", 100)
    assert steps_of(values)["toy.slow"]["workers_peak"] == 3
    path = write_pipeline(LINE.replace("toy.slow", "toy.slow:\n        with: {resources: {memory_gb: 8}}"))
    values = simulate(cli, path, "--cpus", 4, "--memory-gb", 17, "--tasks", 100)
    assert steps_of(values)["toy.slow"]["workers_peak"] == 2


def test_no_input_is_touched_and_ray_is_not_imported(environment, write_pipeline):
    path = write_pipeline("version: 1\nstages:\n  - table.read_jsonl: {paths: no/such/*.jsonl}\n  - text.normalize\n")
    command = [sys.executable, "-X", "importtime", "-m", "curator_core", "simulate", str(path), "--tasks", "50"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    assert "table.read_jsonl+text.normalize" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "curator_core.executors.streaming.simulate.simulator" in imported
    assert "ray" not in imported
