"""The pure parts of the engine, one by one: balance, estimates, placement, chunk sizes, payloads."""

import math
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import EmptyTask, TableBatch, Task, processing_stage
from curator_core.call.runner import StageRunner
from curator_core.executors.streaming.engine.actions import Deliver, PullSources, RunCall, StartWorker, StopWorker
from curator_core.executors.streaming.engine.balancer import Demand, leased_shares, solve, throughput
from curator_core.executors.streaming.engine.board import Board
from curator_core.executors.streaming.engine.chunk_sizing import (
    ChunkSizer,
    call_target_s,
    calls_in_flight,
    min_behind,
)
from curator_core.executors.streaming.engine.estimator import StepEstimator
from curator_core.executors.streaming.engine.model import CallResult, Chunk, Held, Node, StepSpec
from curator_core.executors.streaming.engine.placement import Placement
from curator_core.executors.streaming.engine.pool_goals import PoolGoals
from curator_core.executors.streaming.engine.scheduler import Scheduler
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.executors.streaming.engine.usage import Usage
from curator_core.executors.streaming.shell.call_execution import Budget, CallExecution
from curator_core.executors.streaming.shell.chunk_codec import decode, encode
from curator_core.executors.streaming.shell.worker import CallOrder, StepWorker, WorkerOptions
from curator_core.run.worker_state import WorkerState

TUNING = Tuning()


def gpu_demands(*work_s, **limits):
    return [Demand(each, {"gpu": 1.0}, **limits) for each in work_s]


def test_the_reference_case_and_its_swap():
    assert solve(gpu_demands(0.25, 1.0, 0.5), {"gpu": 7}) == [1, 4, 2]
    assert solve(gpu_demands(1.0, 0.25, 0.5), {"gpu": 7}) == [4, 1, 2]


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=4), st.integers(0, 8))
def test_no_split_of_workers_is_faster(work_s, extra):
    gpus = len(work_s) + extra
    demands = gpu_demands(*work_s)
    found = solve(demands, {"gpu": gpus})
    assert sum(found) <= gpus
    best = max(throughput(demands, split) for split in _splits(gpus, len(work_s)))
    assert throughput(demands, found) >= best * (1 - 1e-6)


def _splits(total, parts):
    if parts == 1:
        return [[total]]
    return [[first, *rest] for first in range(1, total - parts + 2) for rest in _splits(total - first, parts - 1)]


def test_a_stop_finishes_what_is_begun_and_begins_nothing():
    scheduler = Scheduler([StepSpec("first"), StepSpec("second")], [Node("n", cpus=1)])
    begun = finished = delivered = 0
    now = 0.0
    scheduler.tick(now)
    while (actions := scheduler.take_actions()) or not scheduler.is_finished:
        for action in actions:
            now += 0.01
            if isinstance(action, StartWorker):
                scheduler.worker_ready(action.worker_id, now)
            elif isinstance(action, PullSources):
                scheduler.source_chunk(1_000, 100, object(), now)  # more than was asked for: all wait
            elif isinstance(action, StopWorker):
                scheduler.worker_stopped(action.worker_id, now)
            elif isinstance(action, Deliver):
                delivered += action.chunk.count
            elif isinstance(action, RunCall):
                tasks = action.call.tasks
                begun += tasks if action.call.step == 0 else 0
                if begun > 20 and not finished:
                    finished = begun
                    scheduler.stop(now)
                result = CallResult(tasks, tasks, 100, 0.01, handle=object())
                scheduler.call_done(action.call.call_id, result, now)
        scheduler.tick(now)
    assert delivered == begun
    assert finished <= begun < finished + 40  # calls that were on their way


def test_a_step_that_has_ended_without_a_worker_makes_no_others_take_turns():
    steps = [StepSpec("none"), *(StepSpec(name, held=Held(gpus=1)) for name in ("ended", "running"))]
    board = Board(steps, [Node("n", cpus=4, gpus=4)], memory_limit_bytes=1 << 30)
    board.sources_ended = True
    _, ended, running = board.steps
    for step in (ended, running):
        step.push(Chunk(board.next_id(), 1, 1, "handle"))
    running.live_workers = 1
    goals = PoolGoals(board)
    goals.goals(0.0)
    ended.take(1)
    goals.goals(60.0)
    assert goals.turns is None


def test_limits_are_kept():
    demands = [Demand(10.0, {"gpu": 1}, low=1, high=2), Demand(1.0, {"gpu": 1}, low=3)]
    low, high = solve(demands, {"gpu": 8})
    assert low == 2
    assert high >= 3


def test_leasing_steps_have_a_little_more_than_their_share():
    demands = [Demand(each, {"cpu": 1.0}) for each in (0.05, 0.2, 0.1)]
    shares = leased_shares(demands, 7, headroom=TUNING.lease_headroom)
    assert [each.workers for each in shares] == [2, 5, 3]
    assert [each.busy for each in shares] == pytest.approx([1, 4, 2])


def test_a_change_of_speed_is_noticed_within_a_few_calls_and_noise_is_not():
    estimate = StepEstimator()
    for _ in range(50):
        estimate.add(tasks=1, outputs=1, size_bytes=1, service_s=0.1)
    estimate.add(tasks=1, outputs=1, size_bytes=1, service_s=0.5)
    assert estimate.service_s < 0.2
    for _ in range(6):
        estimate.add(tasks=1, outputs=1, size_bytes=1, service_s=0.4)
    assert estimate.service_s == pytest.approx(0.4, rel=0.1)
    assert estimate.with_running([2.0, 2.0]) == 2.0


def test_first_calls_of_one_task_do_not_outweigh_a_call_of_many():
    """A call of one task is mostly what a call costs; counted by calls, it took twenty more to find the right size."""
    estimate = StepEstimator()
    for _ in range(4):
        estimate.add(tasks=1, outputs=1, size_bytes=0, service_s=200e-6)
    estimate.add(tasks=96, outputs=96, size_bytes=0, service_s=96 * 10e-6)
    assert estimate.service_s == pytest.approx((4 * 200e-6 + 96 * 10e-6) / 100)


def test_few_calls_of_several_tasks_show_a_change_as_well():
    estimate = StepEstimator()
    for _ in range(50):
        estimate.add(tasks=4, outputs=4, size_bytes=1, service_s=0.2)
    estimate.add(tasks=4, outputs=4, size_bytes=1, service_s=0.8)
    assert estimate.service_s < 0.1
    for _ in range(2):
        estimate.add(tasks=4, outputs=4, size_bytes=1, service_s=0.8)
    assert estimate.service_s == pytest.approx(0.2)


def test_fan_out_and_output_size_are_learned():
    estimate = StepEstimator()
    for _ in range(20):
        estimate.add(tasks=2, outputs=6, size_bytes=600, service_s=0.1)
    assert estimate.fan_out == pytest.approx(3)
    assert estimate.bytes_per_task == pytest.approx(300)


def test_fractions_of_gpus_are_packed_and_whole_ones_left_whole():
    placement = Placement([Node("one", cpus=8, gpus=2)])
    quarter, whole = Held(gpus=0.25), Held(gpus=1)
    places = [placement.place(0, quarter) for _ in range(3)]
    assert {place.gpu_share[0][0] for place in places} == {places[0].gpu_share[0][0]}
    assert placement.place(1, whole) is not None
    assert placement.place(1, whole) is None
    placement.give_back(places[0], 0, quarter)
    assert placement.place(0, Held(gpus=0.5)) is not None


def test_gpu_memory_becomes_a_fraction_of_each_nodes_own_gpus():
    placement = Placement([Node("small", cpus=8, gpus=1, gpu_memory_gb=10), Node("none", cpus=8)])
    place = placement.place(0, Held(gpu_memory_gb=5))
    assert (place.node_id, place.gpus) == ("small", 0.5)
    assert placement.place(0, Held(gpu_memory_gb=20)) is None


def test_memory_and_custom_resources_are_held():
    placement = Placement([Node("one", cpus=8, memory_bytes=100, custom={"license": 2})])
    held = Held(memory_bytes=60, custom={"license": 1})
    assert placement.place(0, held) is not None
    assert placement.place(0, held) is None
    assert placement.place(0, Held(custom={"license": 1})) is not None
    assert placement.place(0, Held(custom={"license": 1})) is None


def test_workers_without_held_resources_spread_over_nodes():
    placement = Placement([Node("a", cpus=4), Node("b", cpus=4)])
    assert sorted(placement.place(0, Held()).node_id for _ in range(4)) == ["a", "a", "b", "b"]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.25, 0.5, 1, 2]), st.integers(0, 9)), max_size=60))
def test_a_place_is_found_where_there_is_one(steps):
    """Places are ranked, not searched: compare with a plain account of the free GPUs."""
    placement = Placement([Node(f"node {n}", cpus=4, gpus=2) for n in range(4)])
    free = {f"node {n}": [1.0, 1.0] for n in range(4)}
    taken = []
    for is_start, gpus, pick in steps:
        kind = [0.25, 0.5, 1, 2].index(gpus)
        if is_start:
            place = placement.place(kind, Held(gpus=gpus), cpus=1)
            fits = any(max(each) >= gpus if gpus <= 1 else sum(each) >= gpus for each in free.values())
            assert (place is not None) == fits
            if place is not None:
                taken.append((place, kind, gpus))
                for index, share in place.gpu_share:
                    free[place.node_id][index] -= share
                    assert free[place.node_id][index] >= 0
        elif taken:
            place, kind, shared = taken.pop(pick % len(taken))
            placement.give_back(place, kind, Held(gpus=shared))
            for index, share in place.gpu_share:
                free[place.node_id][index] += share


def test_nodes_that_come_and_go_are_placed_on_only_while_they_are_there():
    placement = Placement([Node("one", cpus=4, gpus=1)])
    held = Held(gpus=1)
    assert placement.place(0, held).node_id == "one"
    placement.add_node(Node("two", cpus=4, gpus=1))
    assert placement.capacity["gpu"] == 2
    place = placement.place(0, held)
    assert place.node_id == "two"
    placement.remove_node("two")
    placement.give_back(place, 0, held)
    assert placement.place(0, held) is None
    placement.add_node(Node("two", cpus=4, gpus=1))
    assert placement.place(0, held).node_id == "two"


def test_calls_get_longer_as_a_run_goes_on():
    growing = [call_target_s(elapsed_s, TUNING) for elapsed_s in (0, 0.1, 1, 3, 60)]
    assert growing == sorted(set(growing))
    assert growing[0] == TUNING.call_target_s
    assert growing[-1] < TUNING.call_limit_s
    sizer = ChunkSizer()
    for _ in range(5):
        size = sizer.size(service_s=0.05, task_bytes=0, target_s=0.4)
        sizer.learned(tasks=size, service_s=size * 0.05, target_s=0.4)
    assert sizer.size(service_s=0.05, task_bytes=0) == 1
    assert sizer.size(service_s=0.05, task_bytes=0, target_s=0.4) == 8


def test_a_long_history_of_workers_is_thinned_and_a_moment_is_told_once():
    usage = Usage()
    usage.counted(1, 0.0)
    usage.counted(2, 0.0001)
    assert usage.workers == [(0.0, 2)]
    for number in range(1, 50_000):
        usage.counted(number, float(number))
    assert len(usage.workers) <= 10_000
    assert usage.workers[0] == (0.0, 2)
    assert usage.workers[-1] == (49_999.0, 49_999)


def test_calls_grow_by_what_they_cost_until_they_are_long_enough():
    sizer = ChunkSizer()
    sizes = []
    for _ in range(12):
        sizes.append(sizer.size(service_s=1e-5, task_bytes=0))
        sizer.learned(tasks=sizes[-1], service_s=sizes[-1] * 1e-5)
    assert sizes[:3] == [1, 16, 256]
    assert sizes[-1] <= TUNING.call_target_s / 1e-5
    assert sizer.size(service_s=1.0, task_bytes=0) == 1
    assert sizer.size(service_s=1e-5, task_bytes=1 << 20) == 16


@given(st.integers(1, 100), st.floats(1e-6, 10), st.floats(0, 1e9))
def test_calls_are_whole_batches(batch, service_s, task_bytes):
    size = ChunkSizer(batch).size(service_s=service_s, task_bytes=task_bytes)
    assert size >= batch
    assert size % batch == 0


def test_behind_a_long_call_there_is_time_to_wait_for_more_tasks():
    assert min_behind(8, 1, call_s=0.4, tuning=TUNING) == 6
    assert min_behind(1, 1, call_s=0.4, tuning=TUNING) == 1
    assert min_behind(400, 150, call_s=0.04, tuning=TUNING) == 150  # a short one is over too soon
    assert min_behind(1, 1, call_s=None, tuning=TUNING) == 1


def test_short_calls_are_prefetched_more():
    assert [calls_in_flight(each, TUNING) for each in (2.0, 0.1, 0.001)] == [1, 2, 4]


values = st.one_of(st.integers(), st.text(), st.binary(), st.none(), st.lists(st.integers(), max_size=3))


@given(
    st.lists(st.tuples(values, st.text(max_size=5), st.dictionaries(st.text(max_size=3), values)), min_size=1),
    st.data(),
)
def test_payloads_give_back_what_went_in(rows, data):
    tasks = [
        Task(data=value, task_id=str(n), dataset_name=name, meta=meta) for n, (value, name, meta) in enumerate(rows)
    ]
    payload, size_bytes = encode(tasks)
    assert size_bytes > 0
    assert decode(payload) == tasks
    start = data.draw(st.integers(0, len(tasks)))
    stop = data.draw(st.integers(start, len(tasks)))
    assert decode(payload, start, stop) == tasks[start:stop]


def test_large_bytes_and_tables_travel_beside_the_stream():
    blob = bytes(200_000)
    payload, size_bytes = encode([Task(data=blob), Task(data=b"small")])
    assert len(payload.buffers) == 1
    assert size_bytes >= len(blob)
    assert [task.data for task in decode(payload)] == [blob, b"small"]
    table = pa.table({"x": pa.array(range(100_000))})
    payload, _ = encode([TableBatch(data=table)])
    assert decode(payload)[0].data.equals(table)
    payload, size_bytes = encode([TableBatch(data=table.slice(10, 5))])
    assert size_bytes < 10_000
    assert decode(payload)[0].data["x"].to_pylist() == list(range(10, 15))


def test_the_rate_of_a_pipeline_without_work_is_unlimited():
    assert throughput([], []) == math.inf


def execution(stage, inputs, **budget):
    state = WorkerState()
    return CallExecution([StageRunner(stage, state)], state, inputs, Budget(**budget))


def test_a_call_that_takes_too_long_leaves_the_rest_of_its_tasks_to_others():
    @processing_stage(name="slow")
    def slow(task):
        time.sleep(0.02)
        return task

    call = execution(slow, [Task(data=n) for n in range(100)], seconds=0.05)
    part = call.next_part()
    assert part.is_done
    assert 1 <= part.consumed < 50
    assert len(part.outputs) == part.consumed == len(part.completed)


def test_a_slow_task_with_one_output_is_done_at_once():
    @processing_stage(name="slow")
    def slow(task):
        time.sleep(0.02)
        return task

    part = execution(slow, [Task(data=1)], seconds=0.001, size_bytes=1).next_part()
    assert ([task.data for task in part.outputs], part.is_done) == ([1], True)


def test_large_results_come_in_parts_and_nothing_is_missing():
    @processing_stage(name="many")
    def many(task):
        return [Task(data=bytes(1_000) + bytes([n])) for n in range(20)]

    call = execution(many, [Task(data=0)], size_bytes=3_000)
    parts = []
    is_done = False
    while not is_done:
        part = call.next_part()
        is_done = part.is_done
        parts.append([task.data[-1] for task in part.outputs])
    assert [n for part in parts for n in part] == list(range(20))
    assert max(map(len, parts)) == 3


@pytest.mark.parametrize(("task", "are_told"), [(Task(data=0, task_id="1"), False), (EmptyTask(task_id="1"), True)])
def test_ids_of_sources_are_told_in_every_part_and_others_in_none(task, are_told):
    @processing_stage(name="many")
    def many(task):
        return [Task(data=bytes(1_000)) for _ in range(4)]

    options = WorkerOptions("run", 1.0, "raise", 1, run_dir=None, budget=Budget(size_bytes=2_000))
    worker = StepWorker([], options)
    worker._state = WorkerState()
    worker._runners = [StageRunner(many, worker._state)]
    _, first = worker.run(list(CallOrder([[0, 1]])), encode([task])[0])
    _, second = worker.resume()
    assert (first.outputs, second.outputs) == (2, 2)
    assert [report.source_ids is not None for report in (first, second)] == [are_told] * 2


def test_sources_that_one_call_makes_of_several_empty_tasks_come_in_parts():
    @processing_stage(name="sources")
    def sources(task):
        for _ in range(5):
            yield Task(data=bytes(1_000))

    part = execution(sources, [EmptyTask(task_id="1"), EmptyTask(task_id="2")], size_bytes=6_000).next_part()
    assert ([task.task_id for task in part.outputs][-2:], part.is_done) == (["1-4", "2-0"], False)
    assert ([task.task_id for task in part.completed], part.open_outputs) == (["1"], 1)


def test_an_open_ended_result_is_passed_on_without_waiting_for_the_next():
    made = []

    @processing_stage(name="open")
    def endless(task):
        for n in range(10):
            made.append(n)
            yield Task(data=bytes(1_000))

    call = execution(endless, [Task(data=0)], size_bytes=2_000)
    part = call.next_part()
    assert (len(part.outputs), part.is_done, len(made)) == (2, False, 2)
