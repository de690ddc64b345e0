"""One trial: run a job of random shape, disturb, kill and resume it, and compare what comes out."""

from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from unittest.mock import patch

from ray.exceptions import ActorDiedError

from curator_core import StreamingExecutor
from curator_core.executors.ray.cluster import ClusterInfo
from curator_core.executors.ray.nodes import NodeResources
from curator_core.executors.streaming.shell import breadcrumbs, call_execution, losses, run_loop, session, worker
from curator_core.executors.streaming.shell.chunk_codec import encode
from curator_core.executors.streaming.shell.node_watch import NodeChanges
from curator_core.executors.streaming.shell.run_loop import RunLoop
from curator_core.executors.streaming.shell.session import prepare
from curator_core.executors.streaming.shell.source_thread import SourceChunk
from curator_core.files.faults import hooked
from curator_core.run.ledger import run_ledger
from curator_core.run.ledger.ledger_file import read_ledger
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.run.run import run_plan
from curator_core.run.source_order import in_order
from curator_core.run.state import RunState
from tests.support.fault_simulation.work import WORLD, Job, doubled
from tests.support.fault_simulation.workers import VirtualPool, fetch
from tests.support.fault_simulation.world import HEAD, DriverKilledError, VirtualNode, VirtualTime, World

_MAX_RESTARTS = 4
_LONGEST_S = 50_000.0


@dataclass
class Outcome:
    """How a trial ended; everything but the time and the faults must be zero."""

    seed: int
    ended_s: float = 0.0
    faults: Counter = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    innocent: int = 0
    wrong: list = field(default_factory=list)

    @property
    def is_right(self):
        return not (self.lost or self.doubled or self.innocent or self.wrong)


def run_trial(seed, folder):
    """Run one trial in an empty folder."""
    world = World(seed)
    job = Job.draw(world.random, seed)
    trial = Trial(world, job, folder / "run")
    WORLD.append(world)
    try:
        with virtual(world):
            result = trial.run_to_the_end()
    finally:
        WORLD.pop()
    return trial.compare(result)


class Trial:
    """A job, the world it runs in, and its run directory."""

    def __init__(self, world, job, run_dir):
        self.world = world
        self.job = job
        self.run_dir = run_dir
        self.ledger = run_dir / "ledger.jsonl"
        self.records = run_dir / "quarantine" / "records.jsonl"
        self.durable_bytes = {}  # of these two, to which lines are appended
        self.restarts = 0
        self.wreck = None  # what a killed driver has left in the run directory

    def run_to_the_end(self):
        """Run, and resume after every interruption."""
        while True:
            result = self.run_once()
            if result is not None and not result.interrupted:
                return result
            self.restarts += 1
            if self.restarts >= _MAX_RESTARTS:
                self.world.trouble = 0.0

    def run_once(self):
        """Run until the end, a stop or the death of the driver."""
        world = self.world
        self.build_cluster()
        plan = self.job.pipeline().build()
        state = RunState(self.run_dir)
        self.note_sync(self.ledger, self.records)
        self.wreck = None
        if world.happens(0.05):
            world.faults["stop"] += 1
            world.later(world.now + world.between(0, 20), state.stop_requested.set)
        try:
            with hooked(self.fault_point), patch.object(QuarantineFolder, "sync", self.noting(QuarantineFolder.sync)):
                return run_plan(
                    plan, VirtualExecutor(self), state=state, initial_tasks=self.job.initial_tasks(), resume=True
                )
        except DriverKilledError:
            self.restore_wreck()
            return None
        finally:
            self.leave_zombies()

    # The cluster

    def build_cluster(self):
        world = self.world
        world.nodes = {HEAD: VirtualNode(HEAD, world.random.choice([1, 2, 4]))}
        for number in range(world.random.choice([0, 0, 1, 2])):
            world.nodes[f"node-{number}"] = self.new_node(f"node-{number}", world.random.choice([1, 2]))
        for node in list(world.nodes.values()):
            if node.node_id != HEAD and world.happens(0.5):
                world.later(world.now + world.between(0, 10), self.disturb, node)
        if world.happens(0.3):
            world.later(world.now + world.between(0, 5), self.join)

    def new_node(self, name, cpus):
        """Return a node, one without a licence or with a broken device perhaps."""
        world = self.world
        return VirtualNode(name, cpus, setup_failures=world.random.choice([0.5, 1.0]) if world.happens(0.1) else 0.0)

    def disturb(self, node):
        """Lose a node, or cut it off for a while; too long, and the cluster gives it up while it goes on."""
        world = self.world
        cut_s = world.random.choice([0.0, 5.0, 40.0, 60.0])
        if not cut_s:
            world.faults["node death"] += 1
            self.lose(node, are_processes_dead=True)
            return
        world.faults["link cut"] += 1
        node.reachable_s = world.now + cut_s
        if cut_s > 30.0:
            world.later(world.now + 30.0, self.lose, node)

    def lose(self, node, *, are_processes_dead=False):
        if not node.is_alive:
            return
        node.is_alive = False
        for each in list(self.world.pool.workers) if hasattr(self.world, "pool") else ():
            if each.node is node:
                if are_processes_dead:
                    each.die()
                else:
                    self.world.faults["zombie"] += 1
                    each.fail_calls(ActorDiedError())

    def join(self):
        world = self.world
        world.faults["node joined"] += 1
        name = f"late-{self.restarts}"
        world.nodes[name] = self.new_node(name, 2)
        if world.happens(0.5):
            world.later(world.now + world.between(0, 10), self.disturb, world.nodes[name])

    # The death of the driver

    def fault_point(self, name):
        if self.wreck is not None:
            return
        if name == "ledger.written":  # the sync takes a while: what is done meanwhile is committed together
            self.world.now += self.world.between(0.001, 0.5)
        if name == "ledger.synced":
            self.count_commit()
            self.note_sync(self.ledger)
        if self.world.happens(0.01):
            self.kill_driver(name)

    def kill_driver(self, where):
        """End the driver here. What it does while the exception passes never happened: the directory is put back."""
        world = self.world
        world.faults[f"driver killed at {where}"] += 1
        self.wreck = {path: path.read_bytes() for path in self.run_dir.rglob("*") if path.is_file()}
        if world.random.random() < 0.5:  # the machine loses what was not synced
            self.lose_unsynced()
        raise DriverKilledError

    def restore_wreck(self):
        for path in self.run_dir.rglob("*"):
            if path.is_file() and path not in self.wreck:
                path.unlink()
        for path, data in self.wreck.items():
            path.write_bytes(data)

    def lose_unsynced(self):
        """Cut off some of the lines that were appended since the last sync, in the middle of one perhaps."""
        for path, durable_bytes in self.durable_bytes.items():
            data = self.wreck.get(path, b"")
            header = data.find(b"\n") + 1 if path == self.ledger else 0  # appears with the file
            safe = min(max(durable_bytes, header), len(data))
            if safe < len(data):
                self.world.faults[f"unsynced {path.stem} lost"] += 1
                self.wreck[path] = data[: self.world.random.randint(safe, len(data))]

    def note_sync(self, *paths):
        """Note how much of files is on the disk for good."""
        for path in paths:
            self.durable_bytes[path] = path.stat().st_size if path.exists() else 0

    def noting(self, sync):
        """Return the sync of the quarantine's records, of which note is taken."""

        def sync_and_note(folder):
            sync(folder)
            self.note_sync(self.records)

        return sync_and_note

    def count_commit(self):
        new = self.ledger.read_bytes()[self.durable_bytes[self.ledger] :]
        if new.count(b'{"done":') > 1:
            self.world.faults["commit of several"] += 1

    def leave_zombies(self):
        """Let workers that outlive their driver for a moment finish some of what they were writing."""
        world = self.world
        late = [each for each in world.pending_writes() if world.happens(0.3)] if self.wreck is not None else []
        world.forget_what_comes()
        for path, content in late:
            world.faults["late write"] += 1
            world.later(world.now + world.between(0, 5), world.write, path, content)

    # The end

    def compare(self, result):
        """Return what is not as it should be."""
        job, files = self.job, self.world.files
        outcome = Outcome(self.world.seed, self.world.now, self.world.faults)
        expected, allowed = job.expected(), job.allowed()
        outcome.lost = sum(path not in files for path in expected)
        outcome.wrong += [f"{path} was not to be written" for path in files if path not in {**expected, **allowed}]
        outcome.wrong += [
            f"{path} has other content" for path in files if files[path] != {**expected, **allowed}.get(path)
        ]
        outcome.wrong += [f"{path} was replaced by an earlier try" for path in self.world.replaced]
        outputs = [task.data for task in result]
        outcome.doubled = doubled(outputs)
        outcome.lost += len(set(expected) - set(outputs))
        blamed = [int(record.task_id) for record in result.quarantined if record.task_id.isdecimal()]
        outcome.innocent = len(result.quarantined) - sum(number in job.guilty for number in blamed)
        if sorted(blamed) != sorted(job.guilty):
            outcome.wrong.append(f"quarantined {sorted(blamed)}, guilty {sorted(job.guilty)}")
        content = read_ledger(self.ledger)
        if not content.finished or not content.finished.is_complete or len(content.done) != job.sources:
            outcome.wrong.append(f"the ledger has {len(content.done)} of {job.sources} sources: {content.finished}")
        if not job.guilty:
            outcome.wrong += self.miscounted(result)
        return outcome

    def miscounted(self, result):
        job = self.job
        parts = sum(job.parts_of(number) for number in range(job.sources))
        kept = len(job.expected())
        expected = {"Fan": (job.sources, parts), "Middle": (parts, kept), "Write": (kept, kept)}
        for name, counts in expected.items():
            stats = result.stats[name]
            if (stats.tasks_in, stats.tasks_out) != counts:
                yield f"{name} counted {stats.tasks_in} and {stats.tasks_out}, not {counts}"


class VirtualExecutor(StreamingExecutor):
    """The streaming executor on virtual nodes."""

    def __init__(self, trial):
        super().__init__(max_attempts=1, memory_limit_bytes=trial.world.random.choice([2_000, 20_000, 1 << 30]))
        self._trial = trial
        self._world = trial.world

    def stream(self, plan, tasks, state):
        world = self._world
        opened = prepare(plan, self, state)
        if state.ledger is not None:
            state.ledger.start(len(opened.steps))
        self._trial.note_sync(self._trial.ledger, self._trial.records)  # what is kept of an earlier run was rewritten
        watch = VirtualNodeWatch(world)
        nodes = opened.nodes(ClusterInfo(tuple(watch.resources()), owns=False))
        scheduler, pool = opened.open(nodes, "simulated", world.inbox, reservation=None)
        loop = RunLoop(
            scheduler,
            pool,
            world.inbox,
            state.sources(tasks),
            opened,
            nodes=watch,
            run_id="simulated",
            on_tick=self.tick,
        )
        state.in_order = partial(in_order, place=lambda source: loop.source_order.place(source) or 0)
        try:
            yield from loop.outputs()
        finally:
            loop.close()
            pool.close(patience_s=0)

    def tick(self):
        world = self._world
        if world.now > _LONGEST_S * (1 + self._trial.restarts):
            raise AssertionError("the run does not come to its end")
        if world.happens(0.002):
            self._trial.kill_driver("a random moment")


class VirtualRay:
    """What a session asks Ray itself: on which node the driver is."""

    def get_runtime_context(self):
        return self

    def get_node_id(self):
        return HEAD


class VirtualNodeWatch:
    """Tells of nodes that came and went, every two seconds or when asked."""

    def __init__(self, world):
        self._world = world
        self._known = set()
        self._next_s = 0.0

    def resources(self):
        self._known = set(self._world.nodes)
        return [
            NodeResources(node.node_id, node.cpus, is_head=node.node_id == HEAD) for node in self._world.nodes.values()
        ]

    def changes(self, now, *, at_once=False):
        if now < self._next_s and not at_once:
            return NodeChanges()
        self._next_s = now + 2.0
        nodes = self._world.nodes
        left = sorted(node_id for node_id in self._known if not nodes[node_id].is_alive)  # not as sets are hashed
        new = [node for node in nodes.values() if node.is_alive and node.node_id not in self._known]
        self._known = (self._known - set(left)) | {node.node_id for node in new}
        return NodeChanges([NodeResources(node.node_id, node.cpus) for node in new], left)

    def is_reachable(self, node_id):
        return self._world.nodes[node_id].reachable_s <= self._world.now


class VirtualSource:
    """Stands for the thread that pulls the caller's tasks."""

    def __init__(self, world, tasks, store, events, tuning):
        del store, events, tuning
        self._world = world
        self._tasks = tasks

    def pull(self, count):
        self._world.later(self._world.now + 0.001, self._answer, count)

    def close(self):
        self._world = None

    def _answer(self, count):
        if self._world is None:
            return
        taken = [task for _, task in zip(range(count), self._tasks, strict=False)]
        if not taken:
            self._world.inbox.put(SourceChunk(has_ended=True))
            return
        payload, size_bytes = encode(taken)
        ids = [task.task_id for task in taken]
        self._world.inbox.put(SourceChunk(len(taken), size_bytes, payload, ids, len(taken) < count))


@contextmanager
def virtual(world):
    """Put the virtual world in the place of Ray, threads and clocks."""
    clock = VirtualTime(world)
    with ExitStack() as stack:
        for module in (run_loop, call_execution, worker, run_ledger):
            stack.enter_context(patch.object(module, "time", clock))
        stack.enter_context(patch.object(run_loop, "fetch", partial(fetch, world)))
        stack.enter_context(patch.object(losses, "fetch", partial(fetch, world)))
        stack.enter_context(patch.object(run_loop, "SourceThread", partial(VirtualSource, world)))
        stack.enter_context(patch.object(losses, "noted_stage", lambda _, call_id: world.notes.get(call_id) or None))
        stack.enter_context(patch.object(session, "WorkerPool", partial(VirtualPool, world)))
        stack.enter_context(patch.object(session, "import_ray", VirtualRay))
        stack.enter_context(patch.object(breadcrumbs, "_note", lambda _, *note: world.note(*note)))
        stack.enter_context(patch.object(worker, "limit_thread_pools", lambda cpus: None))
        stack.enter_context(patch.object(worker, "expect_no_interrupts", lambda: None))
        stack.enter_context(patch.object(worker, "hold_lease", lambda run_id, worker_id: None))
        stack.enter_context(patch.object(worker, "once_on_this_node", lambda run_id, name, prepare: prepare()))
        stack.enter_context(patch.object(worker.gc, "freeze", lambda: None))
        yield
