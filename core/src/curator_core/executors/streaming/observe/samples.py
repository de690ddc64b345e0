"""What logs and metrics are made of: each stage at one moment, its rates, and workers that came and went."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_core.run.state import LiveStage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker, WorkerPhase
    from curator_core.run.state import RunState
    from curator_core.values.stats import StageStats

__all__ = ["Sampler", "StageCounts", "StageSample", "WorkerWatch"]


@dataclass(frozen=True)
class StageCounts:
    """What a stage has done since the run began; every field only grows."""

    tasks_in: int = 0
    tasks_out: int = 0
    rows_in: int = 0
    rows_out: int = 0
    rows_dropped: int = 0
    bytes_out: int = 0
    failures: int = 0
    quarantined: int = 0

    @classmethod
    def of(cls, stats: StageStats) -> StageCounts:
        """Read them off a stage's statistics."""
        return cls(
            stats.tasks_in,
            stats.tasks_out,
            stats.rows_in,
            stats.rows_out,
            sum(stats.dropped.values()),
            stats.bytes_out,
            stats.failures,
            stats.quarantined,
        )


@dataclass(frozen=True)
class StageSample:
    """One stage at one moment: what it does, what it has done, and what it had done ``interval_s`` ``before``."""

    stage: str
    live: LiveStage
    counts: StageCounts
    before: StageCounts
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
        self._before: dict[str, StageCounts] = {}
        self._before_s = 0.0

    def take(self, state: RunState, elapsed_s: float) -> list[StageSample]:
        """Return a sample of every stage."""
        interval_s = elapsed_s - self._before_s
        samples = []
        for name in dict.fromkeys([*state.live, *list(state.stats)]):
            counts = StageCounts.of(state.stats_of(name))
            live = state.live.get(name) or LiveStage(step=name)
            samples.append(StageSample(name, live, counts, self._before.get(name, StageCounts()), interval_s))
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
