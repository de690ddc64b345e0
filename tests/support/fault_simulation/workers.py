"""Virtual processes that run the real code of a worker, each call at once, and report when it would have ended."""

import itertools
from collections import deque

from ray.exceptions import ActorDiedError, ObjectLostError, OutOfMemoryError

from curator_core.executors.streaming.shell.chunk_codec import Payload
from curator_core.executors.streaming.shell.worker import StepWorker
from curator_core.executors.streaming.shell.worker_pool import CallEnded, WorkerEnded, WorkerStarted, call_order
from tests.support.fault_simulation.world import HEAD

_LATENCY_S = 0.002
_numbers = itertools.count()


class Answer:
    """What a remote call came to, in the shape of a future."""

    def __init__(self, value=None, error=None):
        self._value = value
        self._error = error

    def exception(self):
        return self._error

    def result(self):
        return self._value


class Reference:
    """A payload in the store of a node, or with the driver if it is small; gone with the node, or by itself."""

    def __init__(self, payload, node):
        self.payload = payload
        self.node = node
        self.is_gone = False
        self._name = f"{next(_numbers):040x}"

    def hex(self):
        return self._name


def fetch(world, handle):
    """Return the payload behind a handle, as the driver and workers get it."""
    if isinstance(handle, Payload):
        return handle
    node = handle.node
    if node is not None:
        # The store of the driver's node is not to lose anything: source tasks cannot be made again.
        handle.is_gone |= not node.is_alive or (node.node_id != HEAD and world.happens(0.05))
    if handle.is_gone:
        world.faults["lost object"] += 1
        raise ObjectLostError(handle.hex(), "", "")
    return handle.payload


class VirtualWorker:
    """A process on a node."""

    def __init__(self, world, worker_id, node, stages, options):
        self.world = world
        self.worker_id = worker_id
        self.node = node
        self.code = StepWorker(stages, options)
        self.is_alive = True
        self.is_known = True  # whether the driver hears of it
        self.has_lease = True
        self.waiting = deque()
        self.running = None
        self.end_error = None

    @property
    def is_in_a_call(self):
        """Whether it is at work for all that the driver can know."""
        return self.is_known and self.node.reachable_s <= self.world.now and isinstance(self.running, CallEnded)

    def send(self, call, begin):
        """Take a call, to be run after those before it."""
        self.waiting.append((call, begin))
        if self.running is None:
            self.world.later(self.arrival_s(), self.begin_next)

    def arrival_s(self, at_s=None):
        """Return when a message between driver and worker arrives."""
        at_s = self.world.now if at_s is None else at_s
        return max(at_s + _LATENCY_S, self.node.reachable_s)

    def begin_next(self):
        if not self.is_alive or self.running is not None or not self.waiting:
            return
        self.running, begin = self.waiting.popleft()
        begin(self)

    def run_code(self, function, *arguments, number=None, random_death_s=None, pause_s=0.0):
        """Run the worker's code at once; return what it returned and when it is over, or None if it dies before.

        Args:
            function: What to run.
            arguments: For it.
            number: Of the try, which counts where files are written.
            random_death_s: When the process is killed from outside.
            pause_s: For how long it is stopped at some moment, before it writes a file if it writes any.
        """
        world = self.world
        world.enter_worker(random_death_s)
        try:
            value = function(*arguments)
        finally:
            end_s, world.local_s = world.local_s, None
        pause_begin_s = world.random.choice([at_s for at_s, *_ in world.written] or [end_s]) if pause_s else end_s
        doom_s = world.doom_s
        for at_s, path, content in world.written:
            if doom_s is None or at_s <= doom_s:
                late_s = pause_s if at_s >= pause_begin_s else 0.0
                world.later(at_s + late_s, self.write, path, content, number)
        if doom_s is not None and doom_s <= end_s:
            world.later(doom_s, self.die, _death(world.doom_kind))
            return None
        return value, end_s + pause_s

    def write(self, path, content, number):
        """Let a file appear, if the worker is there and still has its lease; out of reach, it waits for the answer."""
        if not self.is_alive:
            return
        if self.node.reachable_s > self.world.now:
            self.world.later(self.node.reachable_s, self.write, path, content, number)
        elif self.has_lease:
            self.world.write(path, content, number)
        else:
            self.world.faults["late write refused"] += 1

    def finished(self, event):
        """Report the end of the running call, and begin the next."""
        if not self.is_alive:
            return
        self.running = None
        self.tell(event)
        self.begin_next()

    def tell(self, event):
        if self.is_known:
            self.world.later(self.arrival_s(), self.deliver, event)

    def deliver(self, event):
        if self.is_known or event.answer.exception() is not None:
            self.world.inbox.put(event)

    def die(self, error=None):
        """End the process: all its calls fail."""
        if not self.is_alive:
            return
        self.is_alive = False
        self.fail_calls(error or _death())

    def fail_calls(self, error):
        """Let the driver know that no more answers will come."""
        if not self.is_known:
            return
        self.is_known = False
        pending = [self.running] if self.running is not None else []
        pending += [call for call, _ in self.waiting]
        self.waiting.clear()
        for event in pending:
            event.answer = Answer(error=error)
            self.world.later(self.world.now + 10 * _LATENCY_S, self.deliver, event)


def _death(kind="kill"):
    """Return what Ray says of a process that has ended."""
    if kind == "memory":
        return OutOfMemoryError("the virtual machine is out of memory")
    return ActorDiedError()


class VirtualPool:
    """Stands for the pool of Ray actors."""

    def __init__(self, world, events, steps, stages, options, reservation, run_id, *, runtime_envs, tuning):
        del events, steps, reservation, run_id, runtime_envs
        self._world = world
        self._tuning = tuning
        self._stages = stages
        self._options = options
        self._workers = {}
        self._disturbed_alone = set()
        world.pool = self

    @property
    def workers(self):
        return self._workers.values()

    # What the run loop asks for

    def start(self, action):
        world = self._world
        node = world.nodes[action.node_id]
        worker = VirtualWorker(world, action.worker_id, node, self._stages[action.step], self._options[action.step])
        self._workers[action.worker_id] = worker
        event = WorkerStarted(action.worker_id, None)

        def begin(worker):
            if world.happens(0.01) and world.faults["death in setup"] < 2:
                world.faults["death in setup"] += 1
                world.later(world.now + 0.1, worker.die)
                return
            done = worker.run_code(worker.code.setup, f"worker-{action.worker_id}", action.node_id)
            event.answer = Answer(done[0])
            world.later(done[1] + world.between(0.05, 2.0), worker.finished, event)

        if node.is_alive:
            worker.send(event, begin)
        else:
            event.answer = Answer(error=_death())
            worker.is_alive = worker.is_known = False
            world.later(world.now + _LATENCY_S, world.inbox.put, event)

    def run(self, action):
        handles = [each.chunk.handle for each in action.call.inputs]
        order = list(call_order(action.call, self._tuning))
        self._send(action.worker_id, action.call, lambda code: code.run, [order], handles)

    def resume(self, action):
        self._send(action.worker_id, action.call, lambda code: code.resume, [], [])

    def stop(self, worker_id):
        worker = self._workers[worker_id]
        event = WorkerEnded(worker_id, None)

        def begin(worker):
            event.answer = Answer(worker.code.teardown())
            self._world.later(self._world.now + 0.01, worker.finished, event)

        if worker.is_alive:
            worker.send(event, begin)
        else:
            event.answer = Answer(error=_death())
            self._world.later(self._world.now + _LATENCY_S, self._world.inbox.put, event)

    def kill(self, worker_id):
        worker = self._workers.get(worker_id)
        if worker is not None:
            self._world.faults["timeout"] += worker.is_in_a_call
            self._end(worker_id)

    def close(self, *, patience_s):
        del patience_s
        for worker_id in list(self._workers):
            self._end(worker_id)

    def node_of(self, worker_id):
        worker = self._workers.get(worker_id)
        return None if worker is None else worker.node.node_id

    # Inside

    def _end(self, worker_id):
        worker = self._workers.pop(worker_id)
        worker.is_known = worker.has_lease = False
        if worker.node.reachable_s > self._world.now:
            self._world.faults["zombie"] += 1
        # A process that is out of reach, or waits for a disk, ends later than it is told to.
        self._world.later(max(self._world.now, worker.node.reachable_s) + self._world.between(0.0, 20.0), worker.die)

    def _send(self, worker_id, call, method, arguments, handles):
        world = self._world
        worker = self._workers[worker_id]
        event = CallEnded(worker_id, call, None, None)

        def begin(worker):
            try:
                payloads = [fetch(world, each) for each in handles]
            except ObjectLostError as error:
                event.answer = Answer(error=error)
                world.later(world.now + _LATENCY_S, worker.finished, event)
                return
            done = worker.run_code(
                method(worker.code),
                *arguments,
                *payloads,
                # Replays of several parts of a call write its files again, and may do so at the same time.
                number=None if call.kind == "replay" else next(world.next_try),
                random_death_s=self._random_death_s(call),
                pause_s=self._random_pause_s(call),
            )
            if done is None:
                return
            (payload, report), end_s = done
            is_small = world.random.random() < 0.5
            event.payload = Reference(payload, None if is_small else worker.node)
            event.answer = Answer(report)
            world.later(end_s, worker.finished, event)

        if worker.is_alive and worker.is_known:
            worker.send(event, begin)
        else:
            event.answer = Answer(error=_death())
            world.later(world.now + _LATENCY_S, world.inbox.put, event)

    def _random_death_s(self, call):
        """Return when a worker dies for no reason of its own in a call, if it does."""
        world = self._world
        if not world.happens(0.04) or not self._may_disturb(call):
            return None
        world.faults["worker death"] += 1
        return world.now + world.between(0.0, 0.6) * world.random.random()

    def _random_pause_s(self, call):
        """Return for how long a worker is stopped by SIGSTOP or a machine that swaps."""
        world = self._world
        if not world.happens(0.04) or not self._may_disturb(call):
            return 0.0
        world.faults["slow worker"] += 1
        return world.between(0.1, 40.0)

    def _may_disturb(self, call):
        """Return whether a call may fail for no reason of its own.

        Three failures with one task alone in the worker are taken as proof that the task is to blame. So nobody who is
        innocent is given two.
        """
        if call.kind == "lone":
            tasks = [(each.chunk.chunk_id, n) for each in call.inputs for n in range(each.start, each.stop)]
            if any(task in self._disturbed_alone for task in tasks):
                return False
            self._disturbed_alone.update(tasks)
        return True
