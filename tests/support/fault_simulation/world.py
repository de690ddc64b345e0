"""The virtual world: a clock, what is going to happen, the nodes, and the files that workers write."""

import heapq
import itertools
import queue
import random
from collections import Counter, deque
from dataclasses import dataclass, field

HEAD = "head"


class DriverKilledError(BaseException):
    """The driver's process ends here; nothing catches it on the way."""


@dataclass
class VirtualNode:
    """A machine. The head is the driver's and stays up; others may be lost, or out of reach for a while."""

    node_id: str
    cpus: float
    is_alive: bool = True
    reachable_s: float = 0.0
    """When its messages arrive again."""
    setup_failures: float = 0.0
    """How many of the workers there cannot be set up: a fraction."""


@dataclass
class World:
    """Everything outside the driver, for one seed.

    Args:
        seed: Decides all that happens.
    """

    seed: int
    now: float = 0.0
    faults: Counter = field(default_factory=Counter)
    files: dict = field(default_factory=dict)
    """What workers have written: path and content."""
    tries: dict = field(default_factory=dict)
    """Which try of a call has written each of them."""
    replaced: list = field(default_factory=list)
    """Files of a later try that an earlier one has replaced."""
    nodes: dict = field(default_factory=dict)
    trouble: float = 1.0
    """How likely faults are; zero for a run that must come to its end."""

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self._order = itertools.count()
        self._coming = []
        self.next_try = itertools.count(1)
        self.inbox = Inbox(self)
        self.local_s = None  # of the worker whose code runs just now
        self.doom_s = None  # when it is going to die
        self.doom_kind = "kill"
        self.written = []
        self.notes = {}

    # Time

    def clock(self):
        """Return the time of whoever asks: the driver, or the worker whose code runs just now."""
        return self.now if self.local_s is None else self.local_s

    def later(self, at_s, event, *arguments):
        """Let something happen."""
        heapq.heappush(self._coming, (max(at_s, self.now), next(self._order), event, arguments))

    def pass_until(self, until_s):
        """Let the next thing happen before a moment; return whether there was one."""
        if not self._coming or self._coming[0][0] > until_s:
            self.now = max(self.now, until_s)
            return False
        at_s, _, event, arguments = heapq.heappop(self._coming)
        self.now = max(self.now, at_s)
        event(*arguments)
        return True

    def forget_what_comes(self):
        """Drop everything under way: the driver has died, and with it its workers."""
        self._coming.clear()
        self.inbox.clear()
        self.notes.clear()

    # Inside a worker, whose code runs at once for a time that passes later

    def enter_worker(self, doom_s):
        """Begin to run the code of a worker."""
        self.local_s, self.doom_s, self.doom_kind = self.now, doom_s, "kill"
        self.written = []

    def doom(self, kind):
        """End the process whose code is running. What it does from here on never happens."""
        if self.doom_s is None or self.local_s < self.doom_s:
            self.doom_s, self.doom_kind = self.local_s, kind

    def note(self, call_id, stage):
        """Note the stage of a call, unless the process has ended before."""
        if self.doom_s is None or self.local_s < self.doom_s:
            self.notes[call_id] = stage

    def write_later(self, path, content):
        """Write a file when the time of the worker has come."""
        self.written.append((self.local_s, path, content))

    def pending_writes(self):
        """Return what workers are about to write in the next seconds: files and their content."""
        coming = sorted(self._coming, key=lambda each: each[:2])
        return [each[3][:2] for each in coming if each[2].__name__ == "write" and each[0] < self.now + 5.0]

    # Chance

    def happens(self, chance):
        """Return whether a fault happens."""
        return self.random.random() < chance * self.trouble

    def between(self, low, high):
        """Return a number."""
        return self.random.uniform(low, high)

    # Files

    def write(self, path, content, number=None):
        """Let a file appear, in one step, as an atomic rename does.

        Args:
            path: The file.
            content: What is in it.
            number: Of the try that writes it; None where others may write it at the same time.
        """
        self.files[path] = content
        if number is not None:
            if number < self.tries.get(path, 0):
                self.replaced.append(path)
            self.tries[path] = number


class Inbox:
    """The queue of the run loop: waiting for an event lets virtual time pass."""

    def __init__(self, world):
        self._world = world
        self._arrived = deque()

    def put(self, event):
        self._arrived.append(event)

    def get(self, timeout):
        world = self._world
        if world.happens(0.004):  # a driver that is stopped, or busy with something else
            world.faults["driver busy"] += 1
            until_s = world.now + world.between(0.5, 60.0)
            while world.pass_until(until_s):
                pass
        until_s = world.now + timeout
        while not self._arrived:
            if not world.pass_until(until_s) and not self._arrived:
                raise queue.Empty
        return self._arrived.popleft()

    def get_nowait(self):
        if not self._arrived:
            raise queue.Empty
        return self._arrived.popleft()

    def clear(self):
        self._arrived.clear()


class VirtualTime:
    """Stands for the module ``time`` in the code that is simulated."""

    def __init__(self, world):
        self.monotonic = self.perf_counter = world.clock
        self.time = lambda: 1_700_000_000.0 + world.clock()

    def sleep(self, seconds):
        """Never called by what is simulated."""
        raise AssertionError(f"{seconds} s of real time")
