"""CPU seconds of cases, interleaved so that noise of the machine hits all alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best_cpu_seconds(cases: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of every case, best of ``rounds`` interleaved ones."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.process_time()
            case()
            best[name] = min(best[name], time.process_time() - start)
    return best
