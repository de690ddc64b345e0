"""Measure the memory of the driver for each task: of a stream, of a run with a ledger, and of its continuation.

Every case runs in a process of its own, twice: with a tenth of the tasks and with all of them. ``bytes_per_task`` is
the growth of the process's peak resident memory between the two, divided by the tasks between them; nothing is traced,
so the time is that of an ordinary run. On the streaming executor only the driver is measured.

    python benchmarks/driver_memory.py [--tasks 5000000] [--case CASE,…] [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core import FileGroupTask, LocalExecutor, Pipeline, StreamingExecutor, Task, processing_stage
from curator_core.authoring.tasks import FileSlice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.executors.base import Executor

FULL_TASKS = 5_000_000
QUICK_TASKS = 50_000
CASES = ("stream local", "ledger local", "resume local", "stream streaming", "ledger streaming", "resume streaming")
_KIB = 1024 if sys.platform != "darwin" else 1


@processing_stage(name="pass_on")
def pass_on(task: Task) -> Task:
    return task


@processing_stage(name="write")
def write(task: Task) -> FileGroupTask:
    """Return what a writer returns, without writing: five million files are the disk's business."""
    piece = FileSlice(f"memory://curated/part-{task.task_id}.parquet", file_bytes=1_000 + task.data % 1_000)
    return FileGroupTask(data=(piece,), meta={"rows": 100, "bytes": piece.file_bytes})


def tasks(count: int) -> Iterator[Task[int]]:
    """Yield source tasks, made as they are asked for."""
    return (Task(data=number) for number in range(count))


def run_case(case: str, count: int, run_dir: Path) -> dict[str, float]:
    """Run one case in this process; return its peak memory and its duration."""
    kind, engine = case.split()
    executor: Executor = LocalExecutor() if engine == "local" else StreamingExecutor()
    started = time.monotonic()
    if kind == "stream":
        outputs = sum(1 for _ in Pipeline("p", stages=[pass_on]).stream(executor, tasks(count)))
    else:
        result = Pipeline("p", stages=[write]).run(executor, tasks(count), run_dir=run_dir, resume=kind == "resume")
        outputs = len(result)
    wall_s = time.monotonic() - started
    if outputs != count:
        raise SystemExit(f"{case}: {outputs} of {count} tasks came out")
    return {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB, "wall_s": wall_s}


def figures(cases: list[str], count: int) -> dict[str, dict[str, Any]]:
    """Run the cases, each in processes of its own; a resumed run continues that of the case with a ledger."""
    found: dict[str, dict[str, Any]] = {}
    sizes = (count // 10, count)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            few, many = (_measured(case, each, Path(folder)) for each in sizes)
            per_task = (many["peak_bytes"] - few["peak_bytes"]) / (sizes[1] - sizes[0])
            found[case] = {
                "tasks": count,
                "bytes_per_task": round(per_task, 2),
                "peak_mb": round(many["peak_bytes"] / 1e6, 1),
                "peak_mb_of_a_tenth": round(few["peak_bytes"] / 1e6, 1),
                "wall_s": round(many["wall_s"], 1),
            }
    return found


def _measured(case: str, count: int, folder: Path) -> dict[str, float]:
    kind, engine = case.split()
    run_dir = folder / f"{engine}-{count}"
    if kind == "resume" and not run_dir.exists():
        _measured(f"ledger {engine}", count, folder)
    if kind == "resume":
        _forget_the_end(run_dir / "ledger.jsonl")
    print(f"{case}, {count:,} tasks", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--inside", case, "--tasks", str(count), "--run-dir", str(run_dir)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _forget_the_end(ledger: Path) -> None:
    """Cut the ledger at its last thousand lines: a run that was killed near its end."""
    with ledger.open("rb") as file:
        lines = sum(1 for _ in file)
    with ledger.open("r+b") as file:
        for _ in range(lines - min(1_000, lines // 10)):
            file.readline()
        file.truncate(file.tell())


def _text(report: dict[str, dict[str, Any]]) -> str:
    names = ("tasks", "bytes_per_task", "peak_mb", "peak_mb_of_a_tenth", "wall_s")
    lines = ["case".ljust(20) + "".join(name.rjust(20) for name in names)]
    lines += [case.ljust(20) + "".join(str(each[name]).rjust(20) for name in names) for case, each in report.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tasks", type=int, help=f"how many tasks, {FULL_TASKS:,} unless given")
    parser.add_argument("--case", default=",".join(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_TASKS:,} tasks: whether it works, not what it costs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--run-dir", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.tasks or (QUICK_TASKS if options.quick else FULL_TASKS)
    if options.inside:
        logging.disable(logging.WARNING)
        print(json.dumps(run_case(options.inside, count, options.run_dir)))
        return
    chosen = [each.strip() for each in options.case.split(",")]
    unknown = sorted(set(chosen) - set(CASES))
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; there are: {', '.join(CASES)}")
    report = figures(chosen, count)
    print(json.dumps(report, indent=2) if options.json else _text(report))


if __name__ == "__main__":
    main()
