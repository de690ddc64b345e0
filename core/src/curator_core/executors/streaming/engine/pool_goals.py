"""How many workers each step should have now."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.balancer import (
    Demand,
    grow,
    leased_shares,
    solve,
    throughput,
    worker_limits,
)
from curator_core.executors.streaming.engine.making_room import by_size, places_in_turn, trial_placement

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.balancer import LeaseShare
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Call
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["PoolGoals"]

_SLACK = 1e-6
_TRIALS_KEPT = 64


class PoolGoals:
    """Decides the size of the pools: equal shares first, then by what was learned about each step."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._tuning = board.tuning
        self._since_s: dict[object, float] = {}
        self._wanted: list[int] = []
        self._wanted_since_s = 0.0
        self.turns: dict[int, str] | None = None
        """While steps take turns: the node that each step whose turn it is has its worker on."""
        self._trials: dict[object, list[int]] = {}
        self._grown_for: object = None
        self._grown: list[int] = []

    def goals(self, now: float) -> list[int]:
        """Return the number of workers each step should have."""
        board = self._board
        goals = [0] * len(board.steps)
        active = [step for step in board.steps if not board.has_ended(step) and board.may_run(step)]
        held = [step for step in active if step.holds]
        leased = [step for step in active if not step.holds]
        rate = math.inf
        if held:
            counts = self._held_counts(held, now)
            for step, count in zip(held, counts, strict=True):
                goals[step.index] = count
            demands = [self._demand(step, now) for step in held]
            if all(each is not None for each in demands):
                rate = throughput([each for each in demands if each is not None], counts)
        cpus = board.leases.total - sum(step.spec.cpus * goals[step.index] for step in held)
        for step, count in zip(leased, self._leased_counts(leased, now, rate, max(1.0, cpus)), strict=True):
            goals[step.index] = count
        return self._without_late_starts(goals) if board.sources_ended else goals

    def _without_late_starts(self, goals: list[int]) -> list[int]:
        """Leave out workers that would be ready only when there is little left to do."""
        arriving = 0.0
        kept = []
        for step, goal in zip(self._board.steps, goals, strict=True):
            left = arriving + step.queued_tasks + step.running_calls * step.call_size
            arriving = left * step.estimate.fan_out
            left_s = left * (step.estimate.service_s or 0.0) / max(1, step.live_workers)
            is_late = step.live_workers >= max(1, step.spec.min_workers)
            is_late &= left_s < self._tuning.min_use_of_start * self._boot_s([step])
            kept.append(min(goal, step.live_workers) if is_late and step.estimate.service_s else goal)
        return kept

    # Leased CPUs

    def _leased_counts(self, steps: list[StepState], now: float, rate: float, cpus: float) -> list[int]:
        demands = [self._demand(step, now) for step in steps]
        if any(each is None for each in demands):
            sharing = max(1, sum(not step.spec.is_source for step in steps))  # a source is one worker, and soon done
            shares = [self._equal_share(step, 1 if self._is_late(step, now) else sharing, cpus) for step in steps]
            for step in steps:
                step.share = step.crew = None
            # What is there already stays until all speeds are known.
            return [max(share, step.live_workers) for step, share in zip(steps, shares, strict=True)]
        known = leased_shares(
            [each for each in demands if each is not None], cpus, headroom=self._tuning.lease_headroom, rate_cap=rate
        )
        for step, each in zip(steps, known, strict=True):
            step.share = math.floor(each.busy + self._tuning.worker_rounding)
            step.crew = math.ceil(each.busy - self._tuning.worker_rounding)
        return [self._leased_goal(step, each, now) for step, each in zip(steps, known, strict=True)]

    def _leased_goal(self, step: StepState, share: LeaseShare, now: float) -> int:
        low, high = self._limits(step)
        if not self._is_short(step, now):
            return min(share.workers, max(step.live_workers, low))
        if step.leases < step.ready_workers:  # those that it has are on other nodes than the free CPUs
            return min(high, max(share.workers, step.live_workers + 1))
        return share.workers

    def _is_short(self, step: StepState, now: float) -> bool:
        """Return whether more workers would be of use: for some time CPUs have been free, and no worker to use them.

        All are at work, or wait for CPUs of their own nodes while those of other nodes are idle. To start a worker
        takes a second of a CPU. While others leave it none, another worker could not work either.
        """
        is_waiting = step.queued_tasks > 0 or step.running_calls > step.leases
        has_cpus = self._board.leases.leased + step.spec.cpus <= self._board.leases.total + _SLACK
        is_short = is_waiting and has_cpus and (step.leases >= step.ready_workers or self._is_stranded(step))
        return self._lasts_s(("short", step.index), now, is_so=is_short) >= self._tuning.min_patience_s

    def _is_stranded(self, step: StepState) -> bool:
        """Return whether the idle workers of a step are all on nodes that have no CPU for them."""
        if step.ready_workers < step.live_workers or not step.queued_tasks:
            return False  # some are starting: perhaps where they are needed
        return not step.candidates.has_open_node and self._board.has_room_behind(step)

    def _is_late(self, step: StepState, now: float) -> bool:
        """Return whether a step that is slow to start has work waiting while CPUs are idle: it will need them."""
        if step.ready_workers or not step.live_workers or not step.queued_tasks:
            return False
        usual_s = max(each.boot_s or 0.0 for each in self._board.steps)
        asked_s = next(iter(step.workers.values())).asked_s
        late_s = max(self._tuning.late_start_s, self._tuning.late_start_factor * usual_s)
        return usual_s > 0 and now - asked_s > late_s and self._board.leases.leased < self._board.leases.total

    def _equal_share(self, step: StepState, steps: int, cpus: float) -> int:
        max_workers = math.floor(cpus / step.spec.cpus) if step.spec.cpus else math.ceil(cpus)
        low, high = self._limits(step)
        return max(low, min(high, max_workers // steps))

    # Held resources

    def _held_counts(self, steps: list[StepState], now: float) -> list[int]:
        self.turns = None
        if not self._fit_together(steps) or self._is_shut_out(steps, now):
            self.turns = places_in_turn(self._board, self._turn_order(steps))
            return [int(step.index in self.turns) for step in steps]
        current = [step.live_workers for step in steps]
        demands = [self._demand(step, now) for step in steps]
        if any(each is None for each in demands):
            equal = [Demand(1.0, self._amounts(step), *self._limits(step)) for step in steps]
            shares = self._solve(steps, equal)
            return [max(share, count) if sum(current) else share for share, count in zip(shares, current, strict=True)]
        known = [each for each in demands if each is not None]
        wanted = self._solve(steps, known)
        pays = self._pays(steps, known, current, wanted)
        pays_for_s = self._lasts_s("pays", now, is_so=pays)
        if not pays:
            return current
        if wanted != self._wanted:
            self._wanted, self._wanted_since_s = wanted, now
        is_urgent = throughput(known, current) <= 0
        patience_s = self._patience_s(steps)
        # While several speeds change, so does the best split: wait until it stands, but not forever.
        is_sure = now - self._wanted_since_s >= patience_s or pays_for_s >= self._tuning.max_hesitations * patience_s
        return wanted if is_urgent or is_sure else current

    def _pays(self, steps: list[StepState], demands: list[Demand], current: list[int], wanted: list[int]) -> bool:
        """Return whether a change is worth the workers' time that it costs to start anew."""
        before, after = throughput(demands, current), throughput(demands, wanted)
        if before <= 0 or any(count < low for count, (low, _) in zip(current, map(self._limits, steps), strict=True)):
            return True
        if any(_is_changing(step) for step in steps):
            return False  # first see what the last change brings: a worker that is ended while it starts is pure loss
        uses_more = sum(wanted) > sum(current)
        moved = sum(max(0, new - old) for new, old in zip(wanted, current, strict=True))
        boot_s = self._boot_s(steps)
        gain = after / before
        cost = 1.0 + boot_s * moved / max(1, sum(wanted)) / self._tuning.horizon_s
        return gain > 1.0 + 1e-9 if uses_more else gain > max(self._tuning.min_gain, cost)

    def _solve(self, steps: list[StepState], demands: list[Demand]) -> list[int]:
        """Return the best split of the workers that find a place; what fits in sum need not fit on GPUs and nodes."""
        wanted = solve(demands, self._board.placement.capacity)
        order = by_size(steps)
        counts = {step.index: count for step, count in zip(steps, wanted, strict=True)}
        placed = self._placed([(step, counts[step.index]) for step in order])
        if placed == counts:
            return wanted
        min_workers = {step.index: min(counts[step.index], _min_workers(step)) for step in steps}
        firsts = [(step, min_workers[step.index]) for step in order]
        others = [(step, counts[step.index] - min_workers[step.index]) for step in order]
        splits = [placed, self._placed([*firsts, *others])]
        key = (self._board.placement.node_changes, tuple(step.index for step in steps), tuple(wanted))
        if key != self._grown_for:
            self._grown_for, self._grown = key, self._grow(steps, demands)
        found = [[split[step.index] for step in steps] for split in splits]
        return max(*found, self._grown, key=lambda counts: (throughput(demands, counts), sum(counts)))

    def _grow(self, steps: list[StepState], demands: list[Demand]) -> list[int]:
        """Return the workers that find a place if the slowest step gets one after the other."""
        trial = self._board.placement.emptied([step.spec.held for step in steps])
        counts = [0] * len(steps)

        def take(position: int) -> bool:
            index, spec = steps[position].index, steps[position].spec
            return trial.place(index, spec.held, cpus=spec.cpus) is not None

        for step in by_size(steps):
            position = steps.index(step)
            while counts[position] < demands[position].low and take(position):
                counts[position] += 1
        return grow(demands, counts, take)

    def _turn_order(self, steps: list[StepState]) -> list[StepState]:
        """Share too few slots in time: who has workers keeps them while it can use them, then the last steps first."""
        keeping = [step for step in steps if step.live_workers and self._can_work(step)]
        waiting = [step for step in steps if step not in keeping and self._can_work(step)]
        order = [*reversed(keeping), *reversed(waiting)]
        return [*order, *(step for step in steps if step not in order)]

    def _is_shut_out(self, steps: list[StepState], now: float) -> bool:
        """Return whether a step has found no place for its first worker for some time, although all would fit."""
        without = [(step.index, not step.live_workers and self._can_work(step)) for step in steps]
        waits_s = [self._lasts_s(("without", index), now, is_so=is_without) for index, is_without in without]
        return max(waits_s) > self._tuning.shut_out_s

    def _can_work(self, step: StepState) -> bool:
        return step.has_work and (step.running_calls > 0 or self._board.has_room_behind(step))

    def _fit_together(self, steps: list[StepState]) -> bool:
        """Return whether all steps can have the workers that they need at least, at the same time."""
        placed = self._placed([(step, _min_workers(step)) for step in by_size(steps)])
        return all(placed[step.index] == _min_workers(step) for step in steps)

    def _placed(self, wanted: list[tuple[StepState, int]]) -> dict[int, int]:
        """Return how many workers of each step find a place in the given order if the nodes were empty."""
        key = (self._board.placement.node_changes, tuple((step.index, count) for step, count in wanted))
        found = self._trials.get(key)
        if found is None:
            if len(self._trials) >= _TRIALS_KEPT:
                self._trials.clear()
            found = self._trials[key] = trial_placement(self._board, wanted)
        placed = dict.fromkeys((step.index for step, _ in wanted), 0)
        for (step, _), count in zip(wanted, found, strict=True):
            placed[step.index] += count
        return placed

    def _amounts(self, step: StepState) -> dict[str, float]:
        return step.spec.held.amounts(self._board.placement.largest_gpu_gb)

    # What is known

    def _lasts_s(self, what: object, now: float, *, is_so: bool) -> float:
        """Return for how long something has been so at every look; zero if it is not so."""
        if not is_so:
            self._since_s.pop(what, None)
            return 0.0
        return now - self._since_s.setdefault(what, now)

    def _limits(self, step: StepState) -> tuple[int, int]:
        return worker_limits(step.spec, self._board.leases.total)

    def _demand(self, step: StepState, now: float) -> Demand | None:
        """Return what a step needs per source task, or None while that is unknown."""
        ages = [(now - call.started_s) / max(1, call.tasks) for call in self._running(step)]
        if step.estimate.calls < self._tuning.known_after_calls:
            return None
        service_s = step.estimate.with_running(ages if step.estimate.service_s else [])
        if service_s is None:
            return None
        flow = self._board.flow_to(step)
        amounts = self._amounts(step) if step.holds else {"cpu": step.spec.cpus}
        return Demand(max(flow * service_s, 1e-9), amounts, *self._limits(step))

    def _running(self, step: StepState) -> list[Call]:
        """Return what workers are working on: the oldest call of each, of a sample where they are many."""
        some = itertools.islice(step.workers.values(), self._tuning.sampled_workers)
        return [next(iter(worker.calls.values())) for worker in some if worker.calls]

    def _boot_s(self, steps: list[StepState]) -> float:
        usual_s = self._tuning.usual_boot_s
        return max((step.boot_s or usual_s for step in steps), default=usual_s)

    def _patience_s(self, steps: list[StepState]) -> float:
        """Return how long a change must look worth it: the dearer a mistake, the surer one has to be."""
        return max(self._tuning.min_patience_s, self._tuning.patience_fraction * self._boot_s(steps))


def _min_workers(step: StepState) -> int:
    """Return how many workers a step needs at least."""
    return max(1, step.spec.min_workers)


def _is_changing(step: StepState) -> bool:
    """Return whether workers of a step are starting or about to end."""
    return step.ready_workers < len(step.workers)
