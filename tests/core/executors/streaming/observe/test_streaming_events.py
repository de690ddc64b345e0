"""What can be seen of a run while it runs and afterwards: live figures, the event log, metrics."""

import json
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

from curator_core import Pipeline, ProcessingStage, StreamingExecutor, Task
from curator_core.dashboards import dashboard_path
from curator_core.executors.streaming.engine.model import Held, Node, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.executors.streaming.observe.events import EVENTS_FILE, EventLog, sample_interval_s
from curator_core.executors.streaming.observe.metrics import COUNTERS, GAUGES, StageMetrics
from curator_core.executors.streaming.observe.monitor import Monitor
from curator_core.executors.streaming.observe.samples import Sampler
from curator_core.executors.streaming.simulate.simulator import Simulation, StepModel
from curator_core.run.run import run_plan
from curator_core.run.state import RunState
from curator_core.values.errors import StageError


class Pass(ProcessingStage[Task, Task]):
    def process(self, task):
        return task


class Wait(ProcessingStage[Task, Task]):
    def __init__(self, seconds: float, bad: int | None = None) -> None:
        self.seconds = seconds
        self.bad = bad

    def process(self, task):
        time.sleep(self.seconds)
        if task.data == self.bad:
            raise ValueError(f"{task.data} is bad")
        return task


def plan_of(*stages):
    return Pipeline("watched", stages=list(stages)).build()


def stages_apart(*names):
    return plan_of(*(Pass().with_(name=name, fuse=False) for name in names))


def events_of(folder):
    return [json.loads(line) for line in (folder / EVENTS_FILE).read_text().splitlines()]


def watch_simulation(state, specs, models, *, tasks=2000, plan=None, **options):
    """Run in virtual time under the eyes of a monitor; yield what it publishes after each look."""
    plan = plan or stages_apart(*(spec.name for spec in specs))
    simulation = Simulation(specs, models, [Node("one", cpus=8, gpus=7)], tasks=tasks, **options)
    looks = []
    clock = lambda: state.started_s + simulation._now  # noqa: E731
    with Monitor(simulation.scheduler.board, state, plan.steps, pipeline="watched", clock=clock) as monitor:

        def observe(scheduler):
            before = state.live
            monitor.tick()
            if state.live is not before:
                looks.append((simulation._now, state.live))

        simulation.observe = observe
        simulation.run()
    return looks


def middle(looks):
    return looks[len(looks) // 2][1]


def bottlenecks(looks):
    half = looks[len(looks) // 4 : 3 * len(looks) // 4]
    return {name for _, live in half for name, stage in live.items() if stage.is_bottleneck}


GPU = Held(gpus=1.0)


def test_the_slowest_pool_is_marked_whoever_it_is():
    for slow in (0, 1, 2):
        names = ["first", "second", "third"]
        specs = [StepSpec(name, held=GPU, max_workers=2) for name in names]
        models = [StepModel(0.4 if number == slow else 0.1) for number in range(3)]
        assert bottlenecks(watch_simulation(RunState(), specs, models, tasks=400)) == {names[slow]}


def test_among_steps_that_share_the_cpus_the_heaviest_is_marked():
    specs = [StepSpec("light"), StepSpec("heavy"), StepSpec("middling")]
    models = [StepModel(0.01), StepModel(0.08), StepModel(0.03)]
    looks = watch_simulation(RunState(), specs, models)
    assert bottlenecks(looks) == {"heavy"}
    heavy, light = ([live[name].busy_fraction * live[name].workers for _, live in looks] for name in ("heavy", "light"))
    assert sum(heavy) > 2 * sum(light)
    assert all(0 <= stage.busy_fraction <= 1 for _, each in looks for stage in each.values())


def test_a_step_that_waits_for_its_workers_is_marked_until_they_are_ready():
    specs = [StepSpec("quick"), StepSpec("late")]
    looks = watch_simulation(RunState(), specs, [StepModel(0.05), StepModel(0.01, boot_s=20.0)], tasks=4000)
    waiting = {name for at, live in looks if 5 < at < 20 for name, stage in live.items() if stage.is_bottleneck}
    assert waiting == {"late"}
    assert bottlenecks([each for each in looks if each[0] > 22]) == {"quick"}


def test_queues_and_what_remains_add_up_to_the_tasks_that_are_left():
    specs = [StepSpec("split"), StepSpec("heavy")]
    state = RunState()
    looks = watch_simulation(state, specs, [StepModel(0.001, fan_out=3), StepModel(0.02)], tasks=5000)
    assert looks[2][1]["heavy"].remaining is None  # there is more input
    known = [live["heavy"].remaining for _, live in looks if live["heavy"].remaining is not None]
    assert known
    assert known == sorted(known, reverse=True)
    assert 0 < known[0] <= 15_000
    assert state.live["heavy"].remaining == 0
    assert max(live["heavy"].queued for _, live in looks) > 0
    assert max(live["heavy"].running for _, live in looks) >= 8


def test_stages_of_one_step_share_its_workers_and_the_slower_one_is_blamed():
    plan = plan_of(Pass().with_(name="quick"), Pass().with_(name="slow"))
    assert len(plan.steps) == 1
    state = RunState()
    state.stats_of("quick").add(process_time_s=1.0)
    state.stats_of("slow").add(process_time_s=5.0)
    live = middle(watch_simulation(state, [StepSpec("quick+slow")], [StepModel(0.05)], plan=plan))
    assert live["quick"].leads_step
    assert not live["slow"].leads_step
    assert live["quick"].workers == live["slow"].workers > 0
    assert (live["quick"].is_bottleneck, live["slow"].is_bottleneck) == (False, True)
    assert live["slow"].queued == 0


def test_looks_are_few_whatever_the_number_of_events():
    looks = watch_simulation(RunState(), [StepSpec("only")], [StepModel(0.001)], tasks=20_000)
    assert len(looks) <= 2 + looks[-1][0] / 0.25
    assert len(looks) >= 0.5 * looks[-1][0] / 0.25


def test_the_log_tells_of_workers_that_come_and_go(tmp_path):
    specs = [StepSpec("before", held=GPU), StepSpec("behind", held=GPU)]
    models = [StepModel(0.05, deadly=frozenset({40, 90})), StepModel(0.2)]
    watch_simulation(RunState(tmp_path), specs, models, tasks=400)
    events = events_of(tmp_path)
    counts = dict.fromkeys(("starting", "ready", "draining", "stopped", "lost"), 0)
    for event in events:
        if event["event"] == "workers":
            assert event["step"] in {"before", "behind"}
            assert event["nodes"] == [{"node_id": "one", "workers": event["count"]}]
            counts[event["change"]] += event["count"]
    assert counts["lost"] == 2
    assert counts["ready"] <= counts["starting"]
    assert counts["stopped"] >= 1  # equal shares at first, then workers move to the slower step
    assert events[0]["event"] == "run_started"
    assert [step["name"] for step in events[0]["steps"]] == ["before", "behind"]
    assert events[-1]["event"] == "run_finished"
    assert events[-1]["outcome"] == "finished"


def test_the_log_has_a_moment_a_second_and_times_never_go_back(tmp_path):
    looks = watch_simulation(RunState(tmp_path), [StepSpec("only")], [StepModel(0.05)], tasks=4000)
    events = events_of(tmp_path)
    moments = [event["elapsed_s"] for event in events if event["event"] == "stage"]
    assert [event["elapsed_s"] for event in events] == sorted(event["elapsed_s"] for event in events)
    assert looks[-1][0] * 0.7 <= len(moments) <= looks[-1][0] + 2


def test_the_log_of_a_long_run_stays_small():
    moments, now = 0, 0.0
    while now < 30 * 86_400:
        now += sample_interval_s(now)
        moments += 1
    assert moments < 30_000


def test_a_log_that_cannot_be_written_does_not_end_the_run(tmp_path, caplog):
    log = EventLog(tmp_path / "no such folder" / EVENTS_FILE)
    assert "no more events are written" in caplog.text
    log.run_started(0.0, "watched", [], [])
    log.run_finished(1.0, "finished")
    full = EventLog(Path("/dev/full"))  # as if the disk were
    full.run_started(0.0, "watched", [], [])
    full.run_finished(1.0, "finished")
    assert caplog.text.count("no more events are written") == 2


# On Ray


@pytest.fixture
def recorded_metrics(monkeypatch):
    """What is handed to Ray: gauges keep the last value, counters add up."""
    values = {}

    class Recorder:
        def __init__(self, name, description="", tag_keys=None):
            assert description
            assert tag_keys == ("pipeline", "stage")
            self.name = name

        def set(self, value, tags):
            values[self.name, tags["stage"]] = value

        def inc(self, value, tags):
            assert value > 0
            values[self.name, tags["stage"]] = values.get((self.name, tags["stage"]), 0) + value

    monkeypatch.setattr("ray.util.metrics.Gauge", Recorder)
    monkeypatch.setattr("ray.util.metrics.Counter", Recorder)
    return values


def run_watched(folder, *stages, tasks=40):
    state = RunState(folder)
    seen = []
    plan = plan_of(*stages)
    outputs = StreamingExecutor().stream(plan, [Task(data=n) for n in range(tasks)], state)
    for task in outputs:
        seen.append(state.live)
        assert task
    return state, seen


def test_a_run_on_ray_is_logged_and_published(ray_session, tmp_path, recorded_metrics):
    quick, slow = Wait(0.0).with_(name="quick", fuse=False), Wait(0.05, bad=7).with_(name="slow")
    state, seen = run_watched(tmp_path, quick, slow)
    assert set(state.live) == {"quick", "slow"}
    assert any(live["slow"].workers for live in seen if live)
    events = events_of(tmp_path)
    last = {event["stage"]: event for event in events if event["event"] == "stage"}
    assert {name: event["tasks_in"] for name, event in last.items()} == {"quick": 40, "slow": 40}
    assert last["slow"]["tasks_out"] == 39
    assert last["quick"]["rows_out"] == 40
    (bad,) = (event for event in events if event["event"] == "quarantined")
    assert (bad["stage"], bad["error_type"], bad["message"]) == ("slow", "ValueError", "7 is bad")
    kinds = {(event["step"], event["change"]) for event in events if event["event"] == "workers"}
    assert {("quick", "starting"), ("slow", "starting"), ("slow", "ready")} <= kinds
    assert events[-1]["outcome"] == "finished"
    assert recorded_metrics["curator_stage_tasks_total", "slow"] == 40
    assert recorded_metrics["curator_stage_tasks_out_total", "slow"] == 39
    assert recorded_metrics["curator_stage_quarantined_total", "slow"] == 1
    assert recorded_metrics["curator_stage_workers", "slow"] == 0  # the run is over


def test_ray_takes_the_metrics(ray_session):
    state = RunState()
    state.stats_of("stage").add(tasks_in=5, rows_in=50, failures=1)
    metrics = StageMetrics("watched")
    metrics.update(Sampler().take(state, 1.0))
    metrics.clear(["stage"])


def test_a_run_that_fails_says_of_what(ray_session, tmp_path):
    failing = plan_of(Wait(0.0, bad=3).with_(name="fails", on_error="raise"))
    tasks = [Task(data=n) for n in range(10)]
    with pytest.raises(StageError):
        run_plan(failing, StreamingExecutor(), initial_tasks=tasks, state=RunState(tmp_path))
    last = events_of(tmp_path)[-1]
    assert last["outcome"] == "failed"
    assert "3 is bad" in last["error"]


@pytest.mark.parametrize("how", ["interrupt", "request"])
def test_a_run_that_is_stopped_says_so(how, tmp_path):
    state = RunState(tmp_path)
    board = Scheduler([StepSpec("only")], [Node("one", cpus=1)]).board
    with suppress(GeneratorExit), Monitor(board, state, stages_apart("only").steps, pipeline="watched"):
        if how == "interrupt":
            raise GeneratorExit
        state.stop_requested.set()
    assert events_of(tmp_path)[-1]["outcome"] == "stopped"


# Metrics and their dashboard


def test_the_dashboard_asks_for_the_metrics_that_there_are():
    text = dashboard_path().read_text(encoding="utf-8")
    board = json.loads(text)
    asked = set(re.findall(r"ray_(curator_\w+)", text))
    assert asked == {metric.name for metric in (*GAUGES, *COUNTERS)}
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for metric in COUNTERS:
        assert metric.name.endswith("_total")
        assert all("rate(" in each or "increase(" in each for each in expressions if f"ray_{metric.name}" in each)
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)


def test_counters_count_each_thing_once():
    state, sampler = RunState(), Sampler()
    stats = state.stats_of("stage")
    stats.add(tasks_in=5, rows_in=50, rows_out=40)
    stats.dropped["short"] += 10
    (first,) = sampler.take(state, 1.0)
    stats.add(tasks_in=2, rows_in=20, rows_out=20, bytes_out=1000)
    (second,) = sampler.take(state, 3.0)
    grown = {metric.name: [metric.value(first), metric.value(second)] for metric in COUNTERS}
    assert grown["curator_stage_tasks_total"] == [5, 2]
    assert grown["curator_stage_rows_total"] == [50, 20]
    assert grown["curator_stage_rows_dropped_total"] == [10, 0]
    assert (second.tasks_per_s, second.rows_per_s, second.bytes_per_s) == (1, 10, 500)
