"""Where a step's workers could not be set up, and where it is worth another try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Worker
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["SetupFailures"]


@dataclass
class _Failures:
    rounds: int = 0  # in a row; workers that fail at the same time count once
    counted_s: float = -1.0


class SetupFailures:
    """Keeps workers of a step from nodes where their set-up keeps failing."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._by_step: dict[int, dict[str, _Failures]] = {}
        self._errors: dict[int, Exception] = {}

    def failed(self, worker: Worker, error: Exception, now: float) -> None:
        """Note a worker that could not be set up."""
        here = self._by_step.setdefault(worker.step, {}).setdefault(worker.node_id, _Failures())
        if worker.asked_s > here.counted_s:
            here.rounds += 1
            here.counted_s = now
        self._errors[worker.step] = error

    def succeeded(self, worker: Worker) -> None:
        """Note a worker that was set up."""
        failures = self._by_step.get(worker.step)
        if failures is None:
            return
        if failures.pop(worker.node_id, None) is not None:
            self._board.placement.bar(worker.step, worker.node_id, is_barred=False)
        self.review(self._board.steps[worker.step])

    def review(self, step: StepState) -> None:
        """Decide anew where workers of a step may be started, after a change of its workers.

        Raises:
            Exception: What the last set-up raised, where the step has work, no worker, and nowhere to start one.
        """
        failures = self._by_step.get(step.index)
        if failures is None:
            return
        tuning = self._board.tuning
        tries = tuning.setup_tries if step.live_workers else tuning.last_setup_tries
        if step.boot_s is None:
            tries = tuning.first_setup_tries
        placement = self._board.placement
        for node_id, each in failures.items():
            placement.bar(step.index, node_id, is_barred=each.rounds >= tries)
        spec = step.spec
        is_over = step.live_workers or self._board.has_ended(step)
        if not is_over and not placement.could_place(step.index, spec.held, cpus=spec.cpus):
            raise self._errors[step.index]
