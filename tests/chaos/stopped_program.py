"""Run as a program by test_chaos_stops.py: two stages with a timeout, in a Ray of their own, that somebody stops.

Usage: python -m tests.chaos.stopped_program FOLDER TASKS
Leaves process ids in the folder and prints what came out as JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

from curator_core import Pipeline, StreamingExecutor, Task
from curator_core.run.run import stream_plan
from curator_core.run.state import RunState
from tests.support.worker_kills import Mortal

LONGEST_S = 120


def sign_in_raylet(folder):
    """Leave the process id of the raylet, which is the parent of every worker."""
    for path in (folder / "worker").iterdir():
        status = Path(f"/proc/{path.name}/status")
        if status.exists():
            parent = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("PPid"))
            assert Path(f"/proc/{parent}/comm").read_text().strip() == "raylet"
            (folder / "raylet" / parent).touch()
            return


def main(folder, least):
    folder, given = Path(folder), 0
    (folder / "driver" / str(os.getpid())).touch()

    def source():
        nonlocal given
        late_s = time.monotonic() + LONGEST_S
        while given < least or not ((folder / "over").exists() or time.monotonic() > late_s):
            given += 1
            yield Task(data=(given - 1, ""))

    stages = [
        Mortal("a", folder / "worker", seconds=0.01).with_(timeout_s=1.0),
        Mortal("b", folder / "worker", seconds=0.01).with_(timeout_s=1.0),
    ]
    state, outputs = RunState(), []
    plan = Pipeline("stopped", stages=stages).build()
    for task in stream_plan(plan, StreamingExecutor(cpus=4), state=state, initial_tasks=source()):
        outputs.append(task.data)
        if len(outputs) == least // 4:
            sign_in_raylet(folder)
            (folder / "under-way").touch()
    records = [(record.stage, record.task_id, record.message) for record in state.quarantined]
    sys.stdout.write(json.dumps({"outputs": outputs, "given": given, "quarantined": records}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
