"""docs/executors.md is true: its tables name what there is, its files load, its commands print what it says."""

import json
import re
from pathlib import Path

import pytest

from curator_core import Pipeline, Resources, processing_stage
from curator_core.cli import main
from curator_core.config.executors import executor_class, short_names
from curator_core.executors.default import default_executor
from curator_core.executors.streaming.observe.metrics import COUNTERS, GAUGES
from curator_core.parameters.signature import parameters_of
from curator_core.pipelines.pipeline_file import load_pipeline
from curator_core.registry import default_registry

PAGE = (Path(__file__).parents[2] / "docs" / "executors.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
BLOCKS = list(BLOCK.finditer(PAGE))
PYTHON = [block["code"] for block in BLOCKS if block["language"] == "python"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for block in BLOCKS:
        if block["title"]:
            (tmp_path / block["title"]).write_text(block["code"], encoding="utf-8")
    return tmp_path


def table_rows(heading):
    """Return the cells of the table whose first column has this heading."""
    lines = PAGE[PAGE.index(f"| {heading} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def names_in(cell):
    return re.findall(r"`([\w.]+)`", cell)


def test_every_executor_is_listed_with_its_class():
    registry = default_registry()
    listed = {names_in(row[0])[0]: names_in(row[1])[0] for row in table_rows("name")}
    assert listed == {name: executor_class(name, registry).__name__ for name in short_names(registry)}


def test_the_default_is_chosen_as_the_page_says():
    @processing_stage(name="same")
    def same(task):
        return task

    plain = Pipeline("p", stages=[same]).build()
    model = Pipeline("p", stages=[same.with_(resources=Resources(gpus=1))]).build()
    everything = {"CURATOR_EXECUTOR": "ray_data", "RAY_ADDRESS": "head:6379"}
    in_order = [
        default_executor(plain, True, everything).name,
        default_executor(plain, True, {}).name,
        default_executor(plain, False, {"RAY_ADDRESS": "head:6379"}).name,
        default_executor(model, False, {}).name,
        default_executor(plain, False, {}).name,
    ]
    documented = [names_in(row[1]) for row in table_rows("what is at hand")]
    assert documented == [[], *([name] for name in in_order[1:])]
    assert in_order[0] == "ray_data"  # the executor that it names


def test_every_option_is_listed_with_the_executors_that_have_it():
    registry = default_registry()
    names = short_names(registry)
    documented = {
        (name, option)
        for options, executors, _ in table_rows("option")
        for option in names_in(options)
        for name in (names if executors == "all" else names_in(executors))
    }
    assert documented == {(name, option) for name in names for option in parameters_of(executor_class(name, registry))}


def test_every_metric_is_listed():
    rows = table_rows("gauge")
    assert {name for row in rows for name in names_in(row[0])} == {each.name for each in GAUGES}
    assert {name for row in rows for name in names_in(row[1])} == {each.name for each in COUNTERS}


def test_every_option_of_simulate_is_listed(capsys):
    assert main(["simulate", "--help"]) == 0
    for option in set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--set", "--traceback"}:
        assert f"`{option}" in PAGE, option


def test_the_pipeline_loads_and_the_simulation_prints_what_the_page_says(folder, capsys):
    assert load_pipeline(folder / "score.yaml").executor_name == "streaming"
    (block,) = (block["code"] for block in BLOCKS if block["language"] == "console")
    command, _, expected = block.removeprefix("$ curator ").partition("\n")
    assert main(command.split()) == 0
    printed = capsys.readouterr().out
    assert shape(printed) == shape(expected)
    fixed = (
        "2,000 tasks",
        "text.mean_word_length            0.5 ",
        "8 -> 8",
        "ideal makespan  125.0 s (ratio 1.0",
        "assumed",
    )
    for part in fixed:  # the rest moves with every change of the scheduler
        assert part in printed
        assert part in expected


def shape(text):
    """Return the words of a text, with every figure as one sign."""
    return re.sub(r"[\d.,]*\d%?", "#", text).split()


def test_the_python_examples_run(folder, capsys):
    constructing, reading, dashboard, executor, declaration = PYTHON
    exec(constructing, {})
    exec(executor, {"__name__": "acme_pool"})  # tests/core/executors runs it
    names = {}
    exec(declaration, names)
    assert [spec.name for spec in names["curator_executors"]()] == ["pool"]
    exec(dashboard, {})
    assert json.loads(Path(capsys.readouterr().out.strip()).read_text(encoding="utf-8"))["panels"]
    write_events(folder / "run")
    exec(reading, {})
    assert "rows_per_s" in capsys.readouterr().out


def write_events(run_dir):
    """Leave the log of a run, simulated so that it takes no time."""
    from curator_core.executors.streaming.engine.model import Node, StepSpec
    from curator_core.executors.streaming.observe.monitor import Monitor
    from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel
    from curator_core.run.state import RunState

    state = RunState(run_dir)
    steps = load_pipeline("score.yaml").build(check_inputs=False).steps
    models = [StepModel(0.05) for _ in steps]
    simulation = Simulation([StepSpec.of(step) for step in steps], models, [Node("one", cpus=4, gpus=1)], tasks=200)
    clock = lambda: state.started_s + simulation._now  # noqa: E731
    with Monitor(simulation.scheduler.board, state, steps, pipeline="score", clock=clock) as monitor:
        simulation.observe = lambda scheduler: monitor.tick()
        simulation.run()
