"""Stages that can be killed, and someone who kills their workers at random moments."""

import ctypes
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from curator_core import ProcessingStage, Task


class Mortal(ProcessingStage[Task, Task]):
    """Adds its letter to a task, slowly enough to be killed meanwhile; its workers leave their process ids behind.

    Args:
        letter: What to add.
        folder: Where workers sign in.
        poison: Kind of fault for each of some tasks.
        seconds: Time for a task.
    """

    fuse = False

    def __init__(self, letter, folder, poison=None, seconds=0.002):
        self.letter = letter
        self.folder = str(folder)
        self.poison = poison or {}
        self.seconds = seconds
        self.name = f"add {letter}"

    def setup(self, worker):
        (Path(self.folder) / str(os.getpid())).touch()

    def process(self, task):
        time.sleep(self.seconds)
        number, letters = task.data
        fail(self.poison.get(number))
        return task.with_data((number, letters + self.letter))


def fail(kind):
    """Fail in one of the ways in which real stages do."""
    if kind == "raise":
        raise ValueError("poisoned")
    if kind == "exit":
        os._exit(3)
    if kind == "segfault":
        ctypes.string_at(0)
    while kind == "hang":
        time.sleep(60)


ERRORS = {
    "raise": "ValueError",
    "exit": "WorkerDiedError",
    "segfault": "WorkerDiedError",
    "hang": "TaskTimeoutError",
}
MESSAGES = {
    "raise": "poisoned",
    "exit": "the worker process died",
    "segfault": "the worker process died",
    "hang": "its timeout of 0.2 s",
}


class Killer:
    """Kills workers that have signed in, one after the other, until it has killed enough.

    Args:
        folder: Where workers sign in.
        kills: How many to kill.
        seed: What decides whom and when.
        pause_s: Time between two kills, on average.
    """

    def __init__(self, folder, *, kills, seed, pause_s):
        self.folder = Path(folder)
        self.kills = kills
        self.killed = 0
        self.is_done = threading.Event()
        self._random = random.Random(seed)
        self._pause_s = pause_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def at_work(self):
        self._thread.start()
        try:
            yield self
        finally:
            self._is_over.set()
            self._thread.join()

    def _run(self):
        while self.killed < self.kills and not self._is_over.is_set():
            self._is_over.wait(self._random.uniform(0, 2 * self._pause_s))
            signed_in = sorted(self.folder.iterdir())
            if not signed_in:
                continue
            victim = self._random.choice(signed_in)
            victim.unlink()
            try:
                os.kill(int(victim.name), signal.SIGKILL)
            except ProcessLookupError:
                continue  # it has ended by itself
            self.killed += 1
        self.is_done.set()


def numbered(count, killer):
    """Yield tasks; the last of them only when everybody who has to die is dead, so that no kill comes too late."""
    for number in range(count):
        if number == count - count // 10:
            killer.is_done.wait(300)
        yield Task(data=(number, ""))


def tally(outputs, expected):
    """Compare what came out with what should have: lost, duplicated, wrong."""
    seen = Counter(outputs)
    wanted = Counter(expected)
    numbers = Counter(number for number, _ in outputs)
    lost = sum(number not in numbers for number, _ in expected)
    duplicated = sum(count - 1 for count in numbers.values())
    wrong = (seen - wanted).total() - duplicated
    return {"lost": lost, "duplicated": duplicated, "wrong": max(0, wrong)}
