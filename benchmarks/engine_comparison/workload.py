"""What the stages of a benchmark do, without any engine: sleep, make and pass payloads, fail."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Item = tuple[int, float, float, Any]
"""A task on its way: index, when the first stage began it, when the last one ended it, payload."""


def source_item(index: int) -> Item:
    """Return a task as it enters the first stage."""
    return index, 0.0, 0.0, None


@dataclass(frozen=True)
class Workload:
    """A line of stages and the number of tasks to send through it.

    Args:
        tasks: How many tasks.
        service_ms: Milliseconds a task takes in each stage; zero is a stage that does nothing.
        swapped_ms: The same for the second half of the tasks, where it differs.
        payload_bytes: Size of the array that the first stage makes and the last one drops.
        setup_s: Seconds that a worker of each stage takes to start, where it does.
        raise_every: Every so many tasks one raises in the second stage, each time it is tried.
        exit_every: Every so many tasks one ends its worker's process in the second stage, the first time it is tried.
        marks: Folder where tasks that ended a worker leave a mark.
        warm_up: So many of the first tasks only warm the engine up: throughput is taken over the others.
    """

    tasks: int
    service_ms: tuple[float, ...] = (0.0, 0.0, 0.0)
    swapped_ms: tuple[float, ...] = ()
    payload_bytes: int = 0
    setup_s: tuple[float, ...] = ()
    raise_every: int = 0
    exit_every: int = 0
    marks: str = ""
    warm_up: int = 0

    @property
    def last(self) -> int:
        """Index of the last stage."""
        return len(self.service_ms) - 1

    @property
    def bad_tasks(self) -> int:
        """How many tasks can never be finished."""
        return sum(self.is_bad(index) for index in range(self.tasks)) if self.raise_every else 0

    def is_bad(self, index: int) -> bool:
        """Tell whether a task raises."""
        return bool(self.raise_every) and index % self.raise_every == self.raise_every // 2

    def start_worker(self, stage: int) -> None:
        """Take as long as a worker of this stage takes to start."""
        if self.setup_s and self.setup_s[stage]:
            time.sleep(self.setup_s[stage])

    def act(self, stage: int, index: int) -> None:
        """Do what this stage does to a task, apart from passing it on."""
        late = self.swapped_ms and index >= self.tasks // 2
        milliseconds = (self.swapped_ms if late else self.service_ms)[stage]
        if milliseconds:
            time.sleep(milliseconds / 1000)
        if stage == 1 and (self.raise_every or self.exit_every):
            self._fail(index)

    def step(self, stage: int, item: Item) -> Item:
        """Run one stage on one task."""
        index, started, finished, payload = item
        if stage == 0:
            started = time.time()
            if self.payload_bytes:
                payload = new_payload(self.payload_bytes, index)
        self.act(stage, index)
        if 0 < stage < self.last:
            return item
        if stage == self.last:
            payload, finished = None, time.time()
        return index, started, finished, payload

    def _fail(self, index: int) -> None:
        if self.is_bad(index):
            raise ValueError(f"task {index} cannot be processed")
        if self.exit_every and index % self.exit_every == self.exit_every // 3:
            mark = Path(self.marks) / str(index)
            if not mark.exists():
                mark.touch()
                os._exit(1)


def new_payload(size_bytes: int, index: int) -> Any:
    """Return an array of bytes; every page of it is written."""
    import numpy as np

    return np.full(size_bytes, index % 251, dtype=np.uint8)
