"""curator: the StreamingExecutor with default settings, and the LocalExecutor to compare it with."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core import LocalExecutor, Pipeline, ProcessingStage, Resources, StreamingExecutor, Task
from curator_core.executors.ray.cluster import connect
from engine_comparison.measures import Outcome
from engine_comparison.program import serve
from engine_comparison.store_peak import store_peak
from engine_comparison.text_pipeline import text_stages, write_corpus
from engine_comparison.workload import source_item

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.stage import WorkerInfo
    from curator_core.executors.base import Executor
    from curator_core.run.result import RunResult
    from engine_comparison.cases import Case
    from engine_comparison.workload import Workload

_STORE_BOUND_BYTES = 200 * 10**6
_PATIENCE_S = 30.0


class Stage(ProcessingStage["Task[Any]", "Task[Any]"]):
    """One stage of a workload."""

    def __init__(self, workload: Workload, stage: int) -> None:
        self.workload = workload
        self.stage = stage
        self.name = f"stage {stage}"

    def setup(self, worker: WorkerInfo) -> None:
        del worker
        self.workload.start_worker(self.stage)

    def process(self, task: Task[Any]) -> Task[Any]:
        data = self.workload.step(self.stage, task.data)
        return task if data is task.data else task.with_data(data)


class Session:
    """A Ray of the size that a case needs, started as curator starts one and kept while cases need the same."""

    def __init__(self) -> None:
        self._shape: tuple[Any, ...] | None = None
        self._open = ExitStack()

    def executor(self, case: Case, memory_limit_bytes: int | None) -> StreamingExecutor:
        """Return the executor for a case, with Ray up."""
        cpus = gpus = case.slots or None
        # What a store has touched stays visible, so a peak needs a store of its own.
        shape = (cpus, gpus, case.name if case.family == "e" else None)
        if shape != self._shape:
            self.close()
            self._open.enter_context(connect(cpus=cpus, gpus=gpus))
            self._shape = shape
        return StreamingExecutor(cpus=cpus, gpus=gpus, memory_limit_bytes=memory_limit_bytes)

    def close(self) -> None:
        self._shape = None
        self._open.close()


def run_case(session: Session, case: Case, engine: str) -> Outcome:
    """Run one case."""
    if engine == "local":
        return _run_text(case, LocalExecutor())
    bound = _STORE_BOUND_BYTES if case.family == "e" else None
    executor = session.executor(case, bound)
    if case.text_megabytes:
        return _run_text(case, executor)
    pipeline = Pipeline(case.name, stages=_stages(case))
    with store_peak() as figures:
        if case.workload.warm_up:
            return replace(_run_warmed_up(case, pipeline, executor), figures=figures)
        begun = time.time()
        result = pipeline.run(executor, initial_tasks=_sources(case))
        ended = time.time()
    if bound and "peak_store_bytes" in figures:
        figures["store_of_bound"] = figures["peak_store_bytes"] / bound
    if case.family == "c":
        figures |= _pool_figures(result)
    items = [task.data for task in result]
    return Outcome(items, begun, ended, reported=result.quarantined_count, figures=figures)


def _run_warmed_up(case: Case, pipeline: Pipeline, executor: Executor) -> Outcome:
    """Hold the source back after the first tasks until one of them has come out."""
    is_warm = threading.Event()
    items = []
    begun = time.time()
    for task in pipeline.stream(executor, initial_tasks=_sources(case, is_warm)):
        if not items:
            is_warm.set()
        items.append(task.data)
    return Outcome(items, begun, time.time())


def _sources(case: Case, is_warm: threading.Event | None = None) -> Iterator[Task[Any]]:
    for index in range(case.workload.tasks):
        if is_warm is not None and index == case.workload.warm_up:
            is_warm.wait(_PATIENCE_S)
        yield Task(data=source_item(index))


def _stages(case: Case) -> list[Stage]:
    options: dict[str, Any] = {} if case.is_fused else {"fuse": False}
    if case.is_held:
        options["resources"] = Resources(cpus=0, gpus=1)
    stages = [Stage(case.workload, number) for number in range(case.workload.last + 1)]
    return [stage.with_(**options) for stage in stages]


def _pool_figures(result: RunResult) -> dict[str, Any]:
    busy = {name: each.busy_fraction for name, each in result.stats.items()}
    return {
        "bottleneck_busy": max((each for each in busy.values() if each is not None), default=None),
        "workers": {name: _over_time(each.workers) for name, each in result.stats.items()},
    }


def _over_time(workers: Sequence[tuple[float, int]]) -> str:
    """Return the changes of a number of workers, as in ``1 at 0.5 s, 4 at 2.0 s``."""
    changes = [now for before, now in zip([(0.0, 0), *workers], workers, strict=False) if now[1] != before[1]]
    return ", ".join(f"{count} at {second:.1f} s" for second, count in changes)


def _run_text(case: Case, executor: Executor) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder) / "in", int(case.text_megabytes * 1e6))
        stages = text_stages(Path(folder), may_fuse=case.is_fused)
        begun = time.time()
        arrivals = [
            (time.time(), output.num_items)
            for output in Pipeline(case.name, stages=stages).stream(executor, initial_tasks=None)
        ]
        ended = time.time()
    return Outcome([], begun, ended, figures={"stages": len(stages), **_row_figures(arrivals, begun, ended)})


def _row_figures(arrivals: Sequence[tuple[float, int]], begun: float, ended: float) -> dict[str, Any]:
    """Return rows per second once the first output is there, and with the start."""
    first, last = arrivals[0][0], arrivals[-1][0]
    return {
        "first_output_s": first - begun,
        "rows_per_s": sum(rows for _, rows in arrivals[1:]) / (last - first),
        "rows_per_s_with_start": sum(rows for _, rows in arrivals) / (ended - begun),
    }


def main() -> None:
    session = Session()
    try:
        serve(lambda case, engine: run_case(session, case, engine))
    finally:
        session.close()


if __name__ == "__main__":
    main()
