"""Whatever happens in whatever order: every task ends exactly once, and no bound is ever broken."""

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from curator_core.executors.streaming.engine.actions import (
    Deliver,
    Forget,
    GiveUp,
    PullSources,
    ResumeCall,
    RunCall,
    StartWorker,
    StopWorker,
)
from curator_core.executors.streaming.engine.model import CallResult, Held, Node, StepSpec
from curator_core.executors.streaming.engine.scheduler import Scheduler

STEPS = [
    StepSpec("read", cpus=1),
    StepSpec("model", cpus=1, held=Held(gpus=0.5)),
    StepSpec("batched", cpus=0.5, batch_size=3),
    StepSpec("write", cpus=2, max_workers=2),
]
NODES = [Node("one", cpus=3, gpus=1), Node("two", cpus=2, gpus=2)]
TASKS = 60
POISON = {13, 41}
TASK_BYTES = 10


def outputs_of(step, task):
    """Step 1 drops some tasks and doubles others; ids stay unique."""
    if step == 1 and task % 11 == 5:
        return []
    if step == 1 and task % 7 == 3 and task < 1_000:
        return [task, task + 1_000]
    return [task]


def expected():
    survivors = [task for task in range(TASKS) if task not in POISON]
    return Counter(out for task in survivors for out in outputs_of(1, task))


class Engine(RuleBasedStateMachine):
    """Answers the scheduler's actions in random order, with faults."""

    @initialize(is_batch=st.booleans(), keep_sources=st.booleans())
    def begin(self, is_batch, keep_sources):
        self.scheduler = Scheduler(STEPS, NODES, memory_limit_bytes=2_000, is_batch=is_batch, keep_sources=keep_sources)
        self.is_batch = is_batch
        self.now = 0.0
        self.left = list(range(TASKS))
        self.pulls = 0
        self.starting = []
        self.stopping = []
        self.running = []  # (worker, call, skip, limit)
        self.parts = {}  # by worker: outputs that its interrupted call has still to make, with the positions of inputs
        self.delivered = Counter()
        self.given_up = []
        self.step(lambda: self.scheduler.tick(self.now))

    def step(self, event):
        event()
        while actions := self.scheduler.take_actions():
            for action in actions:
                self.note(action)

    def note(self, action):
        if isinstance(action, RunCall):
            self.running.append((action.worker_id, action.call, action.call.skip, action.call.limit))
        elif isinstance(action, ResumeCall):
            self.running.append((action.worker_id, action.call, None, None))
        elif isinstance(action, PullSources):
            self.pulls += 1
            assert self.pulls == 1
        elif isinstance(action, StartWorker):
            self.starting.append(action.worker_id)
        elif isinstance(action, StopWorker):
            self.stopping.append(action.worker_id)
        elif isinstance(action, Deliver):
            self.delivered.update(action.chunk.handle)
        elif isinstance(action, GiveUp):
            (task,) = action.call.inputs
            self.given_up.append(task.chunk.handle[task.start])
        elif isinstance(action, Forget):
            action.chunk.handle = None

    # Answers

    @rule(count=st.integers(1, 9))
    def pull(self, count):
        if not self.pulls:
            return
        self.pulls = 0
        taken, self.left = self.left[:count], self.left[count:]
        if taken:
            handle = tuple(taken)
            self.step(lambda: self.scheduler.source_chunk(len(handle), TASK_BYTES * len(handle), handle, self.now))
        else:
            self.step(lambda: self.scheduler.source_ended(self.now))

    @rule(pick=st.integers(0, 50))
    def worker_becomes_ready(self, pick):
        if self.starting:
            worker_id = self.starting.pop(pick % len(self.starting))
            if worker_id in self.scheduler.board.workers:
                self.step(lambda: self.scheduler.worker_ready(worker_id, self.now))

    @rule(pick=st.integers(0, 50))
    def worker_stops(self, pick):
        if self.stopping:
            worker_id = self.stopping.pop(pick % len(self.stopping))
            if worker_id in self.scheduler.board.workers:
                self.step(lambda: self.scheduler.worker_stopped(worker_id, self.now))

    @rule(seconds=st.floats(0.001, 3))
    def time_passes(self, seconds):
        self.now += seconds
        self.step(lambda: self.scheduler.tick(self.now))

    @rule(pick=st.integers(0, 50), is_short=st.booleans(), is_part=st.booleans(), service_s=st.floats(0.0001, 2))
    def call_ends(self, pick, is_short, is_part, service_s):
        if not self.running:
            return
        worker_id = self.running[pick % len(self.running)][0]
        first = next(each for each in self.running if each[0] == worker_id)  # a worker runs its calls in order
        _, call, skip, limit = first
        self.running.remove(first)
        if self.scheduler.board.calls.get(call.call_id) is not call or call.worker_id != worker_id:
            return
        self.now += service_s / 10
        lost = [each.chunk for each in call.inputs if each.chunk.handle is None]
        if lost and skip is not None:  # with another call, before this one began
            self.step(lambda: self.scheduler.inputs_lost(call.call_id, lost, self.now))
            return
        if skip is not None and self.parts.pop(worker_id, None) is not None:
            assert call.drops_suspended, "an interrupted worker takes no other call"
        tasks = [task for each in call.inputs for task in each.chunk.handle[each.start : each.stop]]
        if call.step == 1 and POISON & set(tasks):
            self.die(worker_id)
            return
        consumed = len(tasks)
        if skip is None:
            outputs = self.parts.pop(worker_id)
        else:
            if is_short and call.kind == "normal" and not skip and limit is None:
                consumed = max(1, len(tasks) // 2)
            outputs = [(n, out) for n, task in enumerate(tasks[:consumed]) for out in outputs_of(call.step, task)]
            outputs = outputs[skip:] if limit is None else outputs[skip : skip + limit]
        is_done = True
        completed = open_outputs = 0
        if is_part and len(outputs) > 1 and limit is None:
            # A part ends behind an output of the input that was taken last: no more are taken after it.
            middle = 1 + pick % (len(outputs) - 1)
            completed = outputs[middle - 1][0]
            consumed = completed + 1
            rest = [(n - completed, out) for n, out in outputs[middle:] if n == completed]
            outputs = outputs[:middle]
            open_outputs = sum(n == completed for n, _ in outputs) + (0 if completed else call.emitted)
            self.parts[worker_id] = rest
            is_done = False
        result = CallResult(
            consumed,
            len(outputs),
            TASK_BYTES * len(outputs),
            service_s,
            is_done,
            tuple(out for _, out in outputs),
            "one",
            completed,
            open_outputs,
        )
        self.step(lambda: self.scheduler.call_done(call.call_id, result, self.now))
        if not is_done:
            self.return_calls_behind(worker_id)

    def return_calls_behind(self, worker_id):
        """A worker that is interrupted in a call sends those behind it back untouched."""
        for each in [each for each in self.running if each[0] == worker_id and each[2] is not None]:
            self.running.remove(each)
            call = each[1]
            if self.scheduler.board.calls.get(call.call_id) is call and call.kind == "normal":
                self.step(lambda call=call: self.scheduler.call_done(call.call_id, CallResult(0), self.now))

    @rule(pick=st.integers(0, 50))
    def worker_dies(self, pick):
        ready = [each for each in self.scheduler.board.workers.values() if each.phase != "starting"]
        if ready:
            self.die(ready[pick % len(ready)].worker_id)

    def die(self, worker_id):
        self.running = [each for each in self.running if each[0] != worker_id]
        self.step(lambda: self.scheduler.worker_lost(worker_id, self.now))

    @rule()
    def a_node_joins(self):
        if len(self.scheduler.board.placement.nodes) == len(NODES):
            self.step(lambda: self.scheduler.node_added(Node("three", cpus=1), self.now))

    @rule(pick=st.integers(0, 50))
    def inputs_get_lost(self, pick):
        if not self.running:
            return
        _, call, skip, _ = self.running[pick % len(self.running)]
        if self.scheduler.board.calls.get(call.call_id) is not call or skip is None:
            return
        # What was made before a node joined is on the driver's own, and not lost while the driver lives.
        lost = [each.chunk for each in call.inputs if not each.chunk.is_root][:1]
        if lost:
            self.running = [each for each in self.running if each[1] is not call]
            self.step(lambda: self.scheduler.inputs_lost(call.call_id, lost, self.now))

    # What always holds

    @invariant()
    def nothing_is_oversubscribed(self):
        if not hasattr(self, "scheduler"):
            return
        board = self.scheduler.board
        for node in NODES:
            here = [worker for worker in board.workers.values() if worker.node_id == node.node_id]
            assert sum(STEPS[worker.step].cpus for worker in here if worker.calls) <= node.cpus + 1e-6
            assert sum(share for worker in here for _, share in worker.gpu_share) <= node.gpus + 1e-6
        assert all(len(worker.calls) <= 4 for worker in board.workers.values())
        assert len(board.steps[3].workers) <= 2 + sum(w.phase == "draining" for w in board.steps[3].workers.values())

    @invariant()
    def the_lists_agree_with_the_workers(self):
        if not hasattr(self, "scheduler"):
            return
        board = self.scheduler.board
        leased = 0.0
        for step in board.steps:
            workers = step.workers.values()
            ready = [each for each in workers if each.phase == "ready"]
            idle = {each.worker_id for each in ready if not each.calls and each.suspended is None}
            assert {each for listed in step.candidates.idle.values() for each in listed} == idle
            assert all(step.candidates.idle.values())
            assert all(board.workers[each].calls for each in step.candidates.busy)
            assert step.leases == sum(bool(each.calls) for each in workers)
            assert set(step.suspended) == {each.worker_id for each in workers if each.suspended is not None}
            assert step.promised_calls == sum(each.yields_to == step.index for each in board.workers.values())
            leased += step.leases * step.spec.cpus
        assert abs(board.leases.leased - leased) < 1e-6
        assert not any(each.yields_to is not None and not each.calls for each in board.workers.values())

    @invariant()
    def queues_are_bounded(self):
        if not hasattr(self, "scheduler") or self.is_batch:
            return
        for step in self.scheduler.board.steps:
            assert step.queued_tasks >= 0
            assert step.queued_tasks * TASK_BYTES <= 2_000

    def teardown(self):
        """Without further faults, the run comes to its end with every task accounted for."""
        if not hasattr(self, "scheduler"):
            return
        for _ in range(20_000):
            if self.scheduler.is_finished:
                break
            self.pull(5)
            self.worker_becomes_ready(0)
            self.worker_stops(0)
            self.call_ends(0, is_short=False, is_part=False, service_s=0.01)
            self.time_passes(0.1)
        assert self.scheduler.is_finished
        assert not self.delivered - expected()  # nothing doubled
        assert set(self.given_up) >= POISON
        # A worker that dies at random three times in a row takes an innocent task along: allowed, but accounted for.
        missing = expected() - self.delivered
        assert not missing - Counter(out for task in self.given_up for out in {task, *outputs_of(1, task)})


Engine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
test_scheduler_properties = Engine.TestCase
