"""The workers of all steps: start those that are missing, end those that are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.executors.streaming.actions import StartWorker, StopWorker
from curator_core.executors.streaming.model import Worker
from curator_core.executors.streaming.placement import Place

if TYPE_CHECKING:
    from curator_core.executors.streaming.board import Board
    from curator_core.executors.streaming.pool_goals import PoolGoals
    from curator_core.executors.streaming.step_state import StepState

__all__ = ["Pools"]


class Pools:
    """Brings the number of workers to the goals.

    Args:
        board: The state of the run.
        goals: Decides how many workers each step should have.
    """

    def __init__(self, board: Board, goals: PoolGoals) -> None:
        self._board = board
        self._goals = goals
        self._wanted = [0] * len(board.steps)

    def balance(self, now: float) -> None:
        """Decide how many workers there should be; end those that are too many, start those that are missing."""
        self._wanted = self._goals.goals(now)
        for step, goal in zip(self._board.steps, self._wanted, strict=True):
            surplus = step.live_workers - goal
            # A worker that only leases costs nothing while it waits, so those stay until the step has ended.
            if surplus > 0 and (step.holds or not goal):
                live = [worker for worker in step.workers.values() if worker.phase != "draining"]
                for worker in sorted(live, key=_load)[:surplus]:
                    self._drain(worker, step, now)
        self.start_missing(now)

    def start_missing(self, now: float) -> None:
        """Start workers by the last decision, of all steps in turn: the line moves when every step has its first."""
        short = [step for step, goal in zip(self._board.steps, self._wanted, strict=True) if step.live_workers < goal]
        short = [step for step in short if not self._board.has_ended(step)]
        while short:
            short = [step for step in short if self._start(step, now) and step.live_workers < self._wanted[step.index]]

    def _start(self, step: StepState, now: float) -> bool:
        place = self._board.placement.place(step.index, step.spec.held, cpus=step.spec.cpus)
        if place is None:
            return False
        worker = Worker(self._board.next_id(), step.index, place.node_id, gpu_share=place.gpu_share, asked_s=now)
        step.workers[worker.worker_id] = worker
        step.live_workers += 1
        step.size_up()
        self._board.workers[worker.worker_id] = worker
        self._board.actions.append(StartWorker(worker.worker_id, step.index, place.node_id, place.gpus))
        return True

    def _drain(self, worker: Worker, step: StepState, now: float) -> None:
        step.live_workers -= 1
        if worker.phase == "ready":
            step.ready_workers -= 1
            if step.holds:
                self._board.usage[step.index].offers(-1, now)
        worker.phase = "draining"
        step.candidates.discard(worker)
        if not worker.has_work:
            self._board.actions.append(StopWorker(worker.worker_id))
        self._count(step, now)

    def ready(self, worker: Worker, now: float) -> None:
        """Note that a worker can take calls."""
        step = self._board.steps[worker.step]
        step.boot_s = now - worker.asked_s
        step.start_deaths = 0
        if worker.phase == "starting":
            worker.phase = "ready"
            step.ready_workers += 1
            if step.holds:
                self._board.usage[step.index].offers(1, now)
            step.list_worker(worker)
        self._count(step, now)

    def remove(self, worker: Worker, now: float) -> None:
        """Strike a worker off that has ended; what it held is free."""
        step = self._board.steps[worker.step]
        if worker.phase != "draining":
            step.live_workers -= 1
        if worker.phase == "ready":
            step.ready_workers -= 1
            if step.holds:
                self._board.usage[step.index].offers(-1, now)
        step.candidates.discard(worker)
        self._board.leases.unreserve(worker.node_id, step.index)
        del step.workers[worker.worker_id]
        step.size_up()
        del self._board.workers[worker.worker_id]
        self._board.placement.give_back(Place(worker.node_id, worker.gpu_share), worker.step, step.spec.held)
        self._count(step, now)

    def _count(self, step: StepState, now: float) -> None:
        self._board.usage[step.index].counted(step.ready_workers, now)


def _load(worker: Worker) -> tuple[bool, int]:
    """Order workers by how soon they could end: those that are not ready yet, then by calls in hand."""
    return worker.phase == "ready", len(worker.calls) + (worker.suspended is not None)
