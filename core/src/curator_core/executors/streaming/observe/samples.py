"""What logs and metrics are made of: each stage at one moment, its rates, and workers that came and went."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_core.run.state import LiveStage
from curator_core.values.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker, WorkerPhase
    from curator_core.run.state import RunState

__all__ = ["Sampler", "StageSample", "WorkerWatch"]


@dataclass(frozen=True)
class StageSample:
    """One stage at one moment: what it does, what it has done, and what it had done ``interval_s`` ``before``."""

    stage: str
    live: LiveStage
    counts: Counts
    before: Counts
    interval_s: float

    @property
    def tasks_per_s(self) -> float:
        """Tasks processed per second, lately."""
        return self._rate(self.counts.tasks_in - self.before.tasks_in)

    @property
    def rows_per_s(self) -> float:
        """Rows processed per second, lately; of a stage that takes no rows, those it makes."""
        made = self.counts.rows_out - self.before.rows_out
        return self._rate(max(self.counts.rows_in - self.before.rows_in, made))

    @property
    def bytes_per_s(self) -> float:
        """Bytes made per second, lately."""
        return self._rate(self.counts.bytes_out - self.before.bytes_out)

    def _rate(self, amount: float) -> float:
        return amount / self.interval_s if self.interval_s > 0 else 0.0


class Sampler:
    """Takes samples of a run; each knows the one before."""

    def __init__(self) -> None:
        self._before: dict[str, Counts] = {}
        self._before_s = 0.0

    def take(self, state: RunState, elapsed_s: float) -> list[StageSample]:
        """Return a sample of every stage."""
        interval_s = elapsed_s - self._before_s
        samples = []
        for name in dict.fromkeys([*state.live, *list(state.stats)]):
            counts = state.stats_of(name).counted()
            live = state.live.get(name) or LiveStage(step=name)
            samples.append(StageSample(name, live, counts, self._before.get(name, Counts()), interval_s))
            self._before[name] = counts
        self._before_s = elapsed_s
        return samples


Change = Literal["starting", "ready", "draining", "stopped", "lost"]


class WorkerWatch:
    """Compares the workers on the board with those it saw before."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Worker, WorkerPhase]] = {}

    def look(self, board: Board) -> dict[tuple[int, Change], Counter[str]]:
        """Return what has happened since the last look to how many workers of each node, by step and kind of change.

        Workers that are ``lost`` have died, those that are ``stopped`` were ended.
        """
        found: dict[tuple[int, Change], Counter[str]] = defaultdict(Counter)
        for worker, change in self._changes(board):
            found[worker.step, change][worker.node_id] += 1
        return found

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
