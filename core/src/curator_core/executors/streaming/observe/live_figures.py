"""What each stage is doing, read off the scheduler's board, in a millisecond or so."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from curator_core.run.state import LiveStage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.step_state import StepState
    from curator_core.plan.fusion import Step
    from curator_core.values.stats import StageStats

__all__ = ["bottleneck", "live_stages"]

_SAMPLE = 64
_WEIGHT = 0.25


def live_stages(
    board: Board, steps: Sequence[Step], stats: Mapping[str, StageStats], before: Mapping[str, LiveStage]
) -> dict[str, LiveStage]:
    """Return what every stage is doing now.

    Args:
        board: The state of the run.
        steps: The steps that the board's steps stand for.
        stats: What the stages have done so far; tells which stage of the slowest step is to blame.
        before: What they were doing at the last look: how busy they are is smoothed, because a moment tells little.
    """
    slowest = bottleneck(board)
    in_hand = [_in_hand(step) for step in board.steps]
    remaining = _remaining(board, [tasks for tasks, _ in in_hand])
    live: dict[str, LiveStage] = {}
    for step, state, (running, working), left in zip(steps, board.steps, in_hand, remaining, strict=True):
        names = [planned.stage.name for planned in step.stages]
        blamed = max(names, key=lambda name: _time_spent(stats, name)) if state.index == slowest else None
        for position, name in enumerate(names):
            live[name] = LiveStage(
                step=step.name,
                leads_step=position == 0,
                queued=_waiting(state) if position == 0 else 0,
                running=running,
                workers=state.ready_workers,
                busy_fraction=_busy_fraction(state, working, before.get(name)),
                remaining=left if position == 0 else None,
                is_bottleneck=name == blamed,
            )
    return live


def bottleneck(board: Board) -> int | None:
    """Return the index of the step that sets the pace, if one does.

    A step with a pool of its own is limited by its workers. Steps that lease CPUs are limited by all CPUs together; if
    that is the tightest limit, the one that takes most of them is to blame. A step whose workers are all still starting
    does nothing at all.
    """
    if not any(_waiting(step) for step in board.steps):
        # Everybody waits for input: that is the source's pace, or nobody's.
        sources = [step.index for step in board.steps if step.spec.is_source and step.has_work]
        return sources[0] if sources else None
    starting = [step.index for step in board.steps if _waiting(step) and not step.ready_workers and board.may_run(step)]
    if starting:
        return starting[-1]
    work_s = _work_per_source_task(board)
    rates: dict[int, float] = {}
    leasing: dict[int, float] = {}
    for index, seconds in work_s.items():
        step = board.steps[index]
        if step.spec.held or step.spec.max_workers is not None:
            rates[index] = max(1, step.ready_workers) / seconds
        if step.spec.cpus:
            leasing[index] = seconds * step.spec.cpus
    if leasing:
        heaviest = max(leasing, key=leasing.__getitem__)
        pool_rate = board.leases.total / sum(leasing.values())
        rates[heaviest] = min(rates.get(heaviest, pool_rate), pool_rate)
    return min(rates, key=rates.__getitem__, default=None)


def _work_per_source_task(board: Board) -> dict[int, float]:
    """Return a worker's seconds per task that enters the pipeline, of the steps that have work ahead of them."""
    work_s = {
        step.index: board.flow_to(step) * (step.estimate.service_s or 0.0)
        for step in board.steps
        if not board.has_ended(step)
    }
    return {index: seconds for index, seconds in work_s.items() if seconds > 0}


def _remaining(board: Board, running: Sequence[int]) -> list[float | None]:
    """Return how many tasks each step still has to do; unknown while a source can make more."""
    if not board.sources_ended or any(step.spec.is_source and step.has_work for step in board.steps):
        return [None] * len(board.steps)
    left: list[float | None] = []
    arriving = 0.0
    for step, in_hand in zip(board.steps, running, strict=True):
        tasks = arriving + _waiting(step) + in_hand
        left.append(tasks)
        arriving = tasks * step.estimate.fan_out
    return left


def _waiting(step: StepState) -> int:
    return step.queued_tasks + step.parked_tasks + len(step.urgent)


def _in_hand(step: StepState) -> tuple[int, int]:
    """Return the tasks in calls, and the workers that have any; estimated from a part of them where they are many."""
    if not (step.running_calls or step.suspended):
        return 0, 0
    stride = max(1, len(step.workers) // _SAMPLE)
    looked_at = tasks = working = 0
    for worker in itertools.islice(step.workers.values(), 0, None, stride):
        looked_at += 1
        calls = [*worker.calls.values()]
        if worker.suspended is not None:
            calls.append(worker.suspended)
        if calls:
            working += 1
            for call in calls:
                tasks += call.tasks
    scale = len(step.workers) / max(1, looked_at)
    return round(tasks * scale), round(working * scale)


def _busy_fraction(step: StepState, working: int, before: LiveStage | None) -> float:
    if not step.ready_workers:
        return 0.0
    now = min(1.0, working / step.ready_workers)
    if before is None or not before.workers:
        return now
    return before.busy_fraction + _WEIGHT * (now - before.busy_fraction)


def _time_spent(stats: Mapping[str, StageStats], name: str) -> float:
    return stats[name].process_time_s if name in stats else 0.0
