"""Part ``start``: what a new process takes until the kernels of all published recipes, compiled before, are ready.

The child imports curator, makes the stages of ``text.heuristics`` for all recipes and sets them up; how it ends is not
part of it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from text_comparison.program import BENCHMARKS, environment

ROUNDS = 5
_PROGRAM = """
import time

from curator_core.registry import make_stage
from curator_core.authoring.stage import NodeInfo, WorkerInfo

for recipe in ("gopher", "c4", "fineweb", "nemo_english"):
    for stage in make_stage("text.heuristics", recipe=recipe).decompose():
        stage.setup_on_node(NodeInfo())
        stage.setup(WorkerInfo())
print(time.process_time(), time.time())
"""


def measure() -> dict[str, Any]:
    """Return the CPU and wall seconds of the fastest of several processes, behind one that compiles what is missing."""
    print("start: a new process with all kernels", file=sys.stderr, flush=True)
    first = _seconds()
    return {
        "first process": first,
        "later process": min((_seconds() for _ in range(ROUNDS)), key=lambda each: each["cpu_s"]),
    }


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    """Return the CPU seconds of a later process: their own ratio to a second."""
    return {"start, later process: CPU seconds": figures["later process"]["cpu_s"]}


def _seconds() -> dict[str, float]:
    begun = time.time()  # of all processes the same, unlike time.perf_counter
    command = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(command, cwd=BENCHMARKS, env=environment(), capture_output=True, text=True, check=True)
    cpu_s, ready = map(float, done.stdout.split())
    return {"cpu_s": round(cpu_s, 2), "wall_s": round(ready - begun, 2)}
