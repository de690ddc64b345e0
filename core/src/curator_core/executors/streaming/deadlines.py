"""Notice calls that take too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.executors.streaming.actions import KillWorker

if TYPE_CHECKING:
    from curator_core.executors.streaming.board import Board
    from curator_core.executors.streaming.step_state import StepState

__all__ = ["Deadlines"]

_INTERVAL_S = 0.2
_GRACE_S = 1.0  # for what a call needs beside the stages: fetching inputs, storing outputs


class Deadlines:
    """Has workers ended whose running call is overdue.

    A worker begins no further task once a call has lasted ``call_s``, so whatever a call holds, it is overdue when its
    last batch of tasks must have been.

    Args:
        board: The state of the run.
        call_s: How long a worker goes on taking tasks in a call.
    """

    def __init__(self, board: Board, call_s: float) -> None:
        self._board = board
        self._call_s = call_s
        self._limited = [step for step in board.steps if step.spec.timeout_s is not None]
        self._next_s = 0.0
        self._ending: set[int] = set()

    def check(self, now: float) -> None:
        """Look for overdue calls, a few times a second."""
        if not self._limited or now < self._next_s:
            return
        self._next_s = now + _INTERVAL_S
        for step in self._limited:
            limit_s = self._limit_s(step)
            for worker in step.workers.values():
                running = next(iter(worker.calls.values()), None)
                is_overdue = running is not None and now - running.started_s > limit_s
                if is_overdue and worker.worker_id not in self._ending:
                    self._ending.add(worker.worker_id)
                    self._board.actions.append(KillWorker(worker.worker_id))

    def _limit_s(self, step: StepState) -> float:
        assert step.spec.timeout_s is not None
        return self._call_s + _GRACE_S + step.spec.timeout_s * max(1, step.spec.batch_size)
