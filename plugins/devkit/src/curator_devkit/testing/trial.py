"""Run a stage on tasks as an executor would, but plainly: no retries, no quarantine, every exception comes out."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.sdk import NodeInfo, Recording, Task, WorkerInfo, is_composite

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curator_core.sdk import ProcessingStage

__all__ = ["Trial", "prepared", "process", "run_stage"]


@dataclass
class Trial:
    """The output of a stage for some tasks."""

    outputs: list[Any] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    bad_records: int = 0


@contextmanager
def prepared(stage: ProcessingStage[Any, Any]) -> Iterator[ProcessingStage[Any, Any]]:
    """Set up a copy of a stage, lend it, and tear it down."""
    worker = copy.deepcopy(stage)
    worker.setup_on_node(NodeInfo())
    worker.setup(WorkerInfo())
    try:
        yield worker
    finally:
        worker.teardown()


def process(stage: ProcessingStage[Any, Any], tasks: Sequence[Task[Any]]) -> Trial:
    """Call a stage that is set up on every task, in calls of its batch size."""
    recording = Recording()
    outputs: list[Any] = []
    size = max(1, stage.batch_size)
    with recording.active():
        for start in range(0, len(tasks), size):
            batch = list(tasks[start : start + size])
            results = stage.process_batch(batch)
            assert len(results) == len(batch), f"process_batch returned {len(results)} results for {len(batch)} tasks"
            for result in results:
                outputs.extend(_flatten(result))
    return Trial(outputs, recording.dropped, len(recording.bad_records))


def run_stage(stage: ProcessingStage[Any, Any], tasks: Sequence[Task[Any]]) -> Trial:
    """Set a stage up, run it on tasks, tear it down; a composite runs as its parts."""
    if not is_composite(stage):
        with prepared(stage) as worker:
            return process(worker, tasks)
    trial = Trial(list(tasks))
    for part in stage.decompose():
        step = run_stage(part, trial.outputs)
        trial = Trial(step.outputs, trial.dropped + step.dropped, trial.bad_records + step.bad_records)
    return trial


def _flatten(result: Any) -> Iterable[Any]:
    if result is None:
        return []
    if isinstance(result, (list, Iterator)):
        return list(result)
    assert isinstance(result, Task), f"process returned {type(result).__name__}, not a task, a list of tasks or None"
    return [result]
