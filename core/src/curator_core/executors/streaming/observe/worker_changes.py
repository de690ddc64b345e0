"""Notice workers that come and go by looking at the board now and then."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker, WorkerPhase

__all__ = ["WorkerChange", "WorkerWatch"]

Change = Literal["starting", "ready", "draining", "stopped", "lost"]


@dataclass(frozen=True)
class WorkerChange:
    """Workers of a step to which the same happened.

    Args:
        step: Name of the step.
        change: What happened; ``lost`` workers died, ``stopped`` ones were ended.
        nodes: Where, with how many on each node.
    """

    step: str
    change: Change
    nodes: Counter[str] = field(default_factory=Counter)


class WorkerWatch:
    """Compares the workers on the board with those it saw before."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Worker, WorkerPhase]] = {}

    def look(self, board: Board) -> list[WorkerChange]:
        """Return what has changed since the last look, one entry per step and kind of change."""
        found: dict[tuple[int, Change], Counter[str]] = defaultdict(Counter)
        for worker, change in self._changes(board):
            found[worker.step, change][worker.node_id] += 1
        return [WorkerChange(board.steps[step].spec.name, change, nodes) for (step, change), nodes in found.items()]

    def _changes(self, board: Board) -> Iterator[tuple[Worker, Change]]:
        for worker_id, (worker, _) in list(self._seen.items()):
            if worker_id not in board.workers:
                del self._seen[worker_id]
                yield worker, "stopped" if worker.phase == "draining" else "lost"
        for worker_id, worker in board.workers.items():
            known = self._seen.get(worker_id)
            if known is None or known[1] != worker.phase:
                self._seen[worker_id] = (worker, worker.phase)
                yield worker, worker.phase
