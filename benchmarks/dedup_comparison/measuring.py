"""Time and memory of this process."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pyarrow.compute as pc


class PeakMemory:
    """Watches how much memory this process holds, mapped files not counted."""

    def __init__(self) -> None:
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._is_over.wait(0.05):
            _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
            self._peak = max(self._peak, (resident - shared) * 4096)

    def stop(self) -> float:
        """Return the peak in megabytes."""
        self._is_over.set()
        self._thread.join()
        return self._peak / 1e6


def timed(call):
    """Return the seconds and the CPU seconds that a call took, and what it returned."""
    started, cpu = time.perf_counter(), time.process_time()
    value = call()
    return time.perf_counter() - started, time.process_time() - cpu, value


def best(call, times=3):
    """Return the least seconds and CPU seconds of several calls, and what the last returned."""
    runs = [timed(call) for _ in range(times)]
    return min(run[0] for run in runs), min(run[1] for run in runs), runs[-1][2]


def megabytes(column) -> float:
    """Return the size of a column of text."""
    return pc.sum(pc.binary_length(column)).as_py() / 1e6
