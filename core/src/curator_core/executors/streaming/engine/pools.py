"""The workers of all steps: start those that are missing, end those that are too many."""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import StartWorker, StopWorker
from curator_core.executors.streaming.engine.making_room import by_size, make_room, workers_by_load
from curator_core.executors.streaming.engine.model import Worker
from curator_core.executors.streaming.engine.placement import Place
from curator_core.executors.streaming.engine.pool_goals import PoolGoals

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Pools"]

_log = logging.getLogger(__name__)
_STEPS_NAMED = 3


class Pools:
    """Brings the number of workers to the goals."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._goals = PoolGoals(board)
        self._wanted = [0] * len(board.steps)
        holding = by_size(step for step in board.steps if step.holds)
        self._is_mixed = any(step.spec.held != holding[0].spec.held for step in holding)
        # The large ones first, while there is room for them; otherwise in the order in which tasks reach them.
        self._order = [*holding, *(step for step in board.steps if not step.holds)] if self._is_mixed else board.steps
        self._promised: dict[int, set[str]] = {}
        self._warning_s = board.tuning.slow_start_warning_s
        self._next_warning_s = self._warning_s

    def balance(self, now: float) -> None:
        """Decide how many workers there should be; end those that are too many, start those that are missing."""
        self._wanted = self._goals.goals(now)
        self._promised = {}
        if self._is_mixed and self._goals.turns is None:
            self.start_missing(now)
            stops, self._promised = make_room(self._board, self._wanted)
            for worker in stops:
                self._drain(worker, self._board.steps[worker.step], now)
        for step, goal in zip(self._board.steps, self._wanted, strict=True):
            if step.spec.max_worker_tasks is not None:  # their last calls may never have come back to say so
                worn_out = [each for each in step.workers.values() if each.phase == "ready" and step.wears_out(each)]
                for worker in worn_out:
                    self._drain(worker, step, now)
            surplus = step.live_workers - goal
            # A worker that only leases costs nothing while it waits, so those stay until the step has ended.
            if surplus > 0 and (step.holds or not goal):
                for worker in workers_by_load(step)[:surplus]:
                    self._drain(worker, step, now)
        self.start_missing(now)
        self._warn_of_late_starts(now)

    def _warn_of_late_starts(self, now: float) -> None:
        """Say which workers have not started for a minute, then ever less often: the run may wait for them."""
        late = []
        longest_s = 0.0
        for step in self._board.steps:
            if step.ready_workers == len(step.workers):
                continue
            starting = [worker for worker in step.workers.values() if worker.phase == "starting"]
            waited_s = max((now - worker.asked_s for worker in starting), default=0.0)
            if waited_s >= self._warning_s:
                late.append(f"{step.spec.name!r} ({len(starting)} of {step.live_workers}, {step.spec.describe()})")
                longest_s = max(longest_s, waited_s)
        if not late:
            self._next_warning_s = self._warning_s
        elif longest_s >= self._next_warning_s:
            self._next_warning_s = 2 * longest_s
            more = f" and of {len(late) - _STEPS_NAMED} more steps" if len(late) > _STEPS_NAMED else ""
            _log.warning(
                "workers of %s%s have not started after %.0f s: what they hold is taken by another job, the machine is "
                "busy, or their setup takes long",
                ", ".join(late[:_STEPS_NAMED]),
                more,
                longest_s,
            )

    def start_missing(self, now: float) -> None:
        """Start workers by the last decision, of all steps in turn: the line moves when every step has its first."""
        short = [step for step in self._order if step.live_workers < self._wanted[step.index]]
        short = [step for step in short if not self._board.has_ended(step)]
        while short:
            short = [step for step in short if self._start(step, now) and step.live_workers < self._wanted[step.index]]

    def _start(self, step: StepState, now: float) -> bool:
        place = self._find_place(step)
        if place is None:
            return False
        worker = Worker(self._board.next_id(), step.index, place.node_id, gpu_share=place.gpu_share, asked_s=now)
        step.workers[worker.worker_id] = worker
        step.live_workers += 1
        step.size_up()
        self._board.workers[worker.worker_id] = worker
        self._board.actions.append(StartWorker(worker.worker_id, step.index, place.node_id, place.gpus))
        return True

    def _find_place(self, step: StepState) -> Place | None:
        held, placement = step.spec.held, self._board.placement
        if not step.holds:
            return placement.place(step.index, held, cpus=step.spec.cpus)
        if self._goals.turns is not None:
            return placement.place_on(self._goals.turns[step.index], step.index, held, cpus=step.spec.cpus)
        avoid = self._promised_before(step) if self._promised else frozenset()
        return placement.place(step.index, held, cpus=step.spec.cpus, avoid=avoid)

    def _promised_before(self, step: StepState) -> frozenset[str]:
        """Return the nodes that are kept for steps whose workers are placed before those of this one."""
        before = itertools.takewhile(lambda each: each is not step, self._order)
        short = [each.index for each in before if each.live_workers < self._wanted[each.index]]
        return frozenset(itertools.chain.from_iterable(self._promised.get(index, ()) for index in short))

    def _drain(self, worker: Worker, step: StepState, now: float) -> None:
        self._discount(worker, step, now)
        worker.phase = "draining"
        self.stop_if_drained(worker)

    def stop_if_drained(self, worker: Worker) -> None:
        """End a worker that was to end with the work it had in hand, if it has done that."""
        if worker.phase == "draining" and not worker.has_work:
            self._board.actions.append(StopWorker(worker.worker_id))

    def replace(self, worker: Worker, now: float) -> None:
        """Let a worker end when its calls have, and start another as soon as there is room for it."""
        self._drain(worker, self._board.steps[worker.step], now)
        self.start_missing(now)

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
        self._board.usage[step.index].counted(step.ready_workers, now)

    def remove(self, worker: Worker, now: float) -> None:
        """Strike a worker off that has ended; what it held is free."""
        step = self._board.steps[worker.step]
        self._discount(worker, step, now)
        self._board.leases.unreserve(worker.node_id, step.index)
        del step.workers[worker.worker_id]
        step.size_up()
        del self._board.workers[worker.worker_id]
        self._board.placement.give_back(Place(worker.node_id, worker.gpu_share), worker.step, step.spec.held)

    def _discount(self, worker: Worker, step: StepState, now: float) -> None:
        """Count a worker no longer: it gets no more calls."""
        usage = self._board.usage[step.index]
        if worker.phase != "draining":
            step.live_workers -= 1
        if worker.phase == "ready":
            step.ready_workers -= 1
            if step.holds:
                usage.offers(-1, now)
        step.candidates.discard(worker)
        usage.counted(step.ready_workers, now)
