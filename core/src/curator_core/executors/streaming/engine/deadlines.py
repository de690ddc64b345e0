"""Notice calls that take too long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import KillWorker

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Call
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Deadlines"]


@dataclass(slots=True)
class _Running:
    due_s: float  # in attentive time
    looks_overdue: int = 0


class Deadlines:
    """Has workers ended whose running call is overdue.

    A worker begins no further task once a call has lasted ``call_limit_s``, so whatever a call holds, it is overdue
    when its last batch of tasks must have been. A lost chunk is made again in one piece, however many parts its call
    was interrupted in: that may take as long as the call did besides, and twice as long each time it was overdue.

    Only time in which the driver was there to hear of a call counts: while the consumer of the outputs keeps it, or
    while the process is stopped, answers wait unread, and a worker is not to be ended for that.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._tuning = board.tuning
        self._limited = [step for step in board.steps if step.spec.timeout_s is not None]
        self._looked_s = 0.0
        self._attentive_s = 0.0
        self._running: dict[tuple[int, float], _Running] = {}  # by call and start

    def check(self, now: float) -> None:
        """Look for overdue calls, a few times a second."""
        if not self._limited or now < self._looked_s + self._tuning.deadline_interval_s:
            return
        self._attentive_s += min(now - self._looked_s, self._tuning.max_attention_s)
        self._looked_s = now
        known, self._running = self._running, {}
        for step in self._limited:
            for worker in step.workers.values():
                call = next(iter(worker.calls.values()), None)
                if call is None:
                    continue
                key = (call.call_id, call.started_s)
                running = known.get(key)
                if running is None:
                    begun_s = self._attentive_s - min(now - call.started_s, self._tuning.deadline_interval_s)
                    running = _Running(begun_s + self._limit_s(step, call))
                self._running[key] = running
                if self._attentive_s > running.due_s:
                    running.looks_overdue += 1
                    if running.looks_overdue == self._tuning.overdue_looks:
                        self._board.actions.append(KillWorker(worker.worker_id, *key))

    def _limit_s(self, step: StepState, call: Call) -> float:
        assert step.spec.timeout_s is not None
        limit_s = self._tuning.call_limit_s + self._tuning.deadline_grace_s
        limit_s += step.spec.timeout_s * max(1, step.spec.batch_size)
        if call.target is None or call.target.made_by is None:
            return limit_s
        return (limit_s + call.target.made_by.service_s) * 2.0**call.timeouts
