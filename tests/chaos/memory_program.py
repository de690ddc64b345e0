"""Run as a program by test_chaos_memory.py: a Ray that ends workers when little memory is left."""

import json
import os
import sys
import time
from pathlib import Path

MEGABYTE = 1 << 20
MOST_ROOM = 2_400 * MEGABYTE  # much, because other programs come and go meanwhile
ROWS = 64


def used_and_total() -> tuple[int, int]:
    values = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total, available = (int(values[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    return total - available, total


def main() -> None:
    used, total = used_and_total()
    room = min(MOST_ROOM, (total - used) // 3)
    row_bytes, greedy_bytes = room // 32, min(4 * room, (total - used) // 10 * 9)
    os.environ["RAY_memory_usage_threshold"] = str((used + room) / total)  # noqa: SIM112 - Ray's own name
    os.environ["RAY_memory_monitor_refresh_ms"] = "50"  # noqa: SIM112

    from curator_core import Pipeline, ProcessingStage, StreamingExecutor, TableBatch

    class Hungry(ProcessingStage[TableBatch, TableBatch]):
        """Takes memory for every row it is given at once, and holds it for a while."""

        row_wise = True

        def process(self, task):
            taken = []
            for name in task.data.column("name").to_pylist():
                size = greedy_bytes if name == "greedy" else row_bytes
                for _ in range(size // (8 * MEGABYTE)):
                    taken.append(b"x" * (8 * MEGABYTE))
                    time.sleep(0.002)
            time.sleep(0.5)
            return task

    tables = [
        TableBatch(data={"name": ["small"]}),
        TableBatch(data={"name": [f"row {n}" for n in range(ROWS)]}),
        TableBatch(data={"name": ["greedy"]}),
    ]
    result = Pipeline("p", stages=[Hungry()]).run(StreamingExecutor(cpus=1), initial_tasks=tables)
    found = {
        "rows": sorted(row["name"] for task in result for row in task.data.to_pylist()),
        "quarantined": [[each.task_id, each.error_type, each.stage] for each in result.quarantined],
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
